//! Ways to make a link, alone and against others.

use futures::future::join_all;
use serde_json::json;
use tests::{Response, Result};

use super::{ExpectedLink, World, plain};

impl World {
    fn own_url(&self) -> String {
        format!("https://example.org/{}", self.action)
    }

    /// Notes a link that was answered with 201.
    fn expect(&mut self, answer: &Response, link: ExpectedLink) -> Result<String> {
        let code = answer.text("shortCode").to_owned();
        if answer.text("longUrl") != link.url {
            return Err(format!("{} was wanted: {}", link.url, answer.body));
        }
        let version = answer.body["version"].as_u64();
        match self.expected.links.insert(code.clone(), ExpectedLink { version, ..link }) {
            None => Ok(code),
            Some(before) => Err(format!("{code} was given out twice, first as {before:?}")),
        }
    }

    /// A new link, even if its owner has an equal one.
    pub(super) async fn make_another(&mut self) -> Result {
        let owner = [None, Some(0), Some(1)][self.dice.index(3)];
        let url = self.own_url();
        let body = json!({ "longUrl": url, "reuse": false });
        let (answer, _) = self.shorten(owner, &body).send_until_definite().await?;
        if answer.status != 201 {
            return Err(format!("making a link: {} {}", answer.status, answer.body));
        }
        self.expect(&answer, ExpectedLink { owner, url, ..ExpectedLink::default() }).map(drop)
    }

    /// A link under a name that others may want too.
    pub(super) async fn make_alias(&mut self) -> Result {
        let owner = self.dice.index(2);
        let alias = format!("name-{}", self.dice.index(3));
        let url = self.own_url();
        let body = json!({ "longUrl": url, "customAlias": alias });
        let (answer, retried) = self.shorten(Some(owner), &body).send_until_definite().await?;
        let taken = self.expected.links.contains_key(&alias);
        let link = ExpectedLink { owner: Some(owner), url, ..ExpectedLink::default() };
        match answer.status.as_u16() {
            201 => self.expect(&answer, link).map(drop),
            409 if taken => Ok(()),
            // No other request was made, so it met its own write, whose answer was lost.
            409 if retried => {
                self.expected.links.insert(alias, link);
                Ok(())
            }
            status => Err(format!("making {alias}: {status} {}", answer.body)),
        }
    }

    /// One user wants one destination, once or twice at the same time.
    pub(super) async fn make_or_reuse(&mut self) -> Result {
        let owner = self.dice.index(2);
        let url = format!("https://example.org/same-{}", self.dice.index(2));
        let times = 1 + self.dice.index(2);
        let body = plain(&url);
        let wants = (0..times).map(|_| self.shorten(Some(owner), &body).send_until_definite());
        let answers: Result<Vec<_>, _> = join_all(wants).await.into_iter().collect();
        let answers: Vec<Response> = answers?.into_iter().map(|(answer, _)| answer).collect();
        let had = self
            .expected
            .links
            .iter()
            .find(|(_, p)| p.reusable && p.owner == Some(owner) && p.url == url)
            .map(|(code, _)| code.clone());
        let code = had.clone().unwrap_or_else(|| answers[0].text("shortCode").to_owned());
        for answer in &answers {
            let had_it = answer.status == 200 || (answer.status == 201 && had.is_none());
            if !had_it || answer.text("shortCode") != code || answer.text("longUrl") != url {
                return Err(format!("{url} is {code} and was answered {}", answer.body));
            }
        }
        if answers.iter().filter(|answer| answer.status == 201).count() > 1 {
            return Err(format!("{code} was made twice"));
        }
        let version = answers[0].body["version"].as_u64();
        self.expected.links.entry(code).or_insert_with(|| ExpectedLink {
            owner: Some(owner),
            url,
            version,
            reusable: true,
            ..ExpectedLink::default()
        });
        Ok(())
    }

    /// The same request under one idempotency key, more than once.
    pub(super) async fn make_with_key(&mut self) -> Result {
        let owner = [None, Some(0), Some(1)][self.dice.index(3)];
        let (key, url) = (format!("once-{}", self.action), self.own_url());
        let body = json!({ "longUrl": url, "note": key });
        let ask =
            || self.shorten(owner, &body).header("idempotency-key", &key).send_until_definite();
        let (one, two) = if self.action.is_multiple_of(2) {
            futures::join!(ask(), ask())
        } else {
            (ask().await, ask().await)
        };
        let ((one, _), (two, _)) = (one?, two?);
        // Who was slow and lost the key meanwhile meets the link that the other one made.
        let made = |answer: &Response| matches!(answer.status.as_u16(), 200 | 201);
        if !made(&one) || !made(&two) || one.text("shortCode") != two.text("shortCode") {
            return Err(format!("{key}: {} and {}", one.body, two.body));
        }
        let code = self.expect(&one, ExpectedLink { owner, url, ..ExpectedLink::default() })?;
        self.expected.once.insert(key, code);
        Ok(())
    }

    /// A link that ends after a click or two.
    pub(super) async fn make_limited(&mut self) -> Result {
        let (owner, url) = (Some(self.dice.index(2)), self.own_url());
        let max_clicks = Some(1 + self.dice.below(2));
        let fallback = (self.dice.index(2) == 0).then(|| "https://example.org/fallback".to_owned());
        let body = json!({
            "longUrl": url, "reuse": false, "maxClicks": max_clicks, "fallbackUrl": fallback,
        });
        let (answer, _) = self.shorten(owner, &body).send_until_definite().await?;
        if answer.status != 201 {
            return Err(format!("making a link: {} {}", answer.status, answer.body));
        }
        let link = ExpectedLink { owner, url, max_clicks, fallback, ..ExpectedLink::default() };
        let code = self.expect(&answer, link)?;
        self.visit_link(&code).await;
        Ok(())
    }

    /// Two users want one name at the same moment, without idempotency keys.
    pub(super) async fn race_for_alias(&mut self) -> Result {
        let alias = format!("race-{}", self.action);
        let urls = ["https://example.org/one", "https://example.org/two"];
        let bodies = urls.map(|url| json!({ "longUrl": url, "customAlias": alias }));
        let want = |user: usize| self.shorten(Some(user), &bodies[user]).send();
        let answers: [Response; 2] = futures::join!(want(0), want(1)).into();
        if answers.iter().all(|answer| answer.status == 201) {
            return Err(format!("{alias} was given to two users"));
        }
        if answers.iter().all(|answer| answer.status == 409) {
            return Err(format!("{alias} was refused to both, so one met its own success"));
        }
        for (user, answer) in answers.iter().enumerate() {
            if answer.status == 201 {
                let url = urls[user].to_owned();
                self.expect(
                    answer,
                    ExpectedLink { owner: Some(user), url, ..ExpectedLink::default() },
                )?;
            }
        }
        Ok(())
    }
}
