//! Guesses what a misspelt name was meant to be.

/// Renders ` (did you mean …?)` for the candidate closest to `name`, or nothing if none is close.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    // A third of the name may be wrong; beyond that a suggestion confuses more than it helps.
    let tolerance = name.chars().count().div_ceil(3);
    closest(name, candidates, tolerance)
        .map(|candidate| format!(" (did you mean `{candidate}`?)"))
        .unwrap_or_default()
}

/// The candidate that differs from `name` in at most `tolerance` letters, ignoring case.
pub(crate) fn closest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    tolerance: usize,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= tolerance && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, one row of the matrix at a time.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_name_is_suggested_and_a_distant_one_is_not() {
        let names = ["Api", "ApiLogs", "IdsTable"];
        assert_eq!(did_you_mean("Apii", names), " (did you mean `Api`?)");
        assert_eq!(did_you_mean("idstabel", names), " (did you mean `IdsTable`?)");
        assert_eq!(did_you_mean("Observability", names), "");
        assert_eq!(did_you_mean("Q", ["P"]), "");
        assert_eq!(did_you_mean("Wrok", ["Work"]), " (did you mean `Work`?)");
    }
}
