//! Tables of measurements, each next to the bar it has to clear, and the parts that make them.

use crate::Result;

/// How a measurement compares with what was promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing was promised; the number is there for comparison.
    Note,
    /// Whether a promise about speed was kept. Machines differ, so missing it is only shown.
    Speed(bool),
    /// Whether a promise about correctness was kept. Missing it fails the run.
    Correct(bool),
    /// Whether a promise about something counted was kept. Counts repeat on every machine, so
    /// missing it fails the run.
    Counted(bool),
}

/// Something to measure, by its name on the command line.
pub(crate) type Part = (&'static str, fn() -> Result<Vec<Table>>);

/// Measures the part that is named, or all, and says whether every bar that must hold on any machine was
/// cleared; `None` if there is no such part.
pub(crate) fn run(system: &str, parts: &[Part], named: Option<&str>) -> Option<bool> {
    let mut passed = None;
    for (_, measure) in parts.iter().filter(|(name, _)| named.is_none_or(|named| named == *name)) {
        let cleared = match measure() {
            // Each is printed, also after one that failed.
            Ok(tables) => tables.iter().filter(|table| !table.print()).count() == 0,
            Err(error) => {
                println!("Measuring {system} failed: {error}\n");
                false
            }
        };
        passed = Some(passed.unwrap_or(true) && cleared);
    }
    passed
}

/// Rows of (what, measured, bar, verdict), printed in aligned columns.
pub(crate) struct Table {
    rows: Vec<[String; 4]>,
    passed: bool,
}

impl Table {
    /// A table of `what`, whose third column says what each measurement is `against`.
    pub(crate) fn new(what: &str, against: &str) -> Self {
        let head = [what, "measured", against, ""].map(str::to_owned);
        Self { rows: vec![head], passed: true }
    }

    pub(crate) fn row(&mut self, what: &str, measured: String, bar: &str, verdict: Verdict) {
        let word = match verdict {
            Verdict::Note => "",
            Verdict::Speed(true) | Verdict::Correct(true) | Verdict::Counted(true) => "ok",
            Verdict::Speed(false) | Verdict::Correct(false) | Verdict::Counted(false) => "MISSED",
        };
        self.passed &= !matches!(verdict, Verdict::Correct(false) | Verdict::Counted(false));
        self.rows.push([what.to_owned(), measured, bar.to_owned(), word.to_owned()]);
    }

    /// Prints the table and says whether every bar that must hold on any machine was cleared.
    pub(crate) fn print(&self) -> bool {
        let width = |column: usize| {
            self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let (what, measured, bar) = (width(0), width(1), width(2));
        for (number, row) in self.rows.iter().enumerate() {
            let line =
                format!("{:what$}  {:>measured$}  {:>bar$}  {}", row[0], row[1], row[2], row[3]);
            println!("{}", line.trim_end());
            if number == 0 {
                println!("{}", "─".repeat(what + measured + bar + 12));
            }
        }
        println!();
        self.passed
    }
}

/// A whole number with its thousands set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        assert!(cases.iter().all(|&(number, text)| grouped(number) == text));
    }

    #[test]
    fn only_a_missed_bar_of_correctness_fails_the_run() {
        let mut table = Table::new("what", "bar");
        table.row("slow", String::new(), "", Verdict::Speed(false));
        assert!(table.print());
        table.row("wrong", String::new(), "", Verdict::Correct(false));
        assert!(!table.print());
    }
}
