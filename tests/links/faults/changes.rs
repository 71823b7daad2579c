//! Ways to change a link, alone and against others.

use http::Method;
use serde_json::{Value, json};
use tests::{Response, Result};

use super::{ExpectedLink, World};

impl World {
    /// Remembers which version an answer tells of.
    fn record_version(&mut self, code: &str, answer: &Response) {
        if let Some(link) = self.expected.links.get_mut(code) {
            link.version = answer.body["version"].as_u64();
            link.spent = answer.body["state"] == "spent";
        }
    }

    /// Changes the destination of the version that was read last.
    pub(super) async fn edit(&mut self) -> Result {
        let is_open = |p: &ExpectedLink| !p.deleted && p.max_clicks.is_none();
        let Some(code) = self.random_link(is_open) else { return Ok(()) };
        let read = self.read(&code).await?;
        let (path, version) = (format!("/api/v1/url/{code}"), read.header("etag").to_owned());
        let url = format!("https://example.org/edited-{}", self.action);
        let body = json!({ "longUrl": url });
        let change = self.admin(Method::PATCH, &path).header("if-match", &version).json(&body);
        let (answer, retried) = change.send_until_definite().await?;
        let now = self.read(&code).await?;
        let edited = now.text("longUrl") == url;
        match answer.status.as_u16() {
            200 if edited => {}
            412 if edited && retried => {}
            status => return Err(format!("editing {code}: {status}, and then {}", now.body)),
        }
        self.record_version(&code, &now);
        if let Some(link) = self.expected.links.get_mut(&code) {
            link.url = url;
            link.reusable = false;
        }
        Ok(())
    }

    /// Two people change the same version; at most one of them may succeed.
    pub(super) async fn race_to_edit(&mut self) -> Result {
        let is_open = |p: &ExpectedLink| !p.deleted && p.max_clicks.is_none();
        let Some(code) = self.random_link(is_open) else { return Ok(()) };
        let read = self.read(&code).await?;
        let (path, version) = (format!("/api/v1/url/{code}"), read.header("etag").to_owned());
        let urls = ["a", "b"].map(|one| format!("https://example.org/{one}-{}", self.action));
        let change = |url: &str| {
            let call = self.admin(Method::PATCH, &path).header("if-match", &version);
            call.json(&json!({ "longUrl": url })).send()
        };
        let answers: [Response; 2] = futures::join!(change(&urls[0]), change(&urls[1])).into();
        let statuses = answers.each_ref().map(|answer| answer.status.as_u16());
        if statuses == [200, 200] || statuses == [412, 412] {
            return Err(format!("version {version} of {code} met two changes: {statuses:?}"));
        }
        let now = self.read(&code).await?;
        for (url, status) in urls.iter().zip(statuses) {
            let is_it = now.text("longUrl") == url;
            if (status == 200 && !is_it) || (status == 412 && is_it) {
                return Err(format!("{url} was answered {status}, and then {}", now.body));
            }
        }
        self.record_version(&code, &now);
        if let Some(link) = self.expected.links.get_mut(&code) {
            now.text("longUrl").clone_into(&mut link.url);
            link.reusable = false;
        }
        Ok(())
    }

    /// Gives a link more clicks, or fewer, while they are being counted.
    pub(super) async fn refill(&mut self) -> Result {
        let Some(code) = self.random_link(|p| p.max_clicks.is_some()) else { return Ok(()) };
        self.visit_link(&code).await;
        let read = self.read(&code).await?;
        let (path, version) = (format!("/api/v1/url/{code}"), read.header("etag").to_owned());
        let (before, after) = (read.body["maxClicks"].as_u64(), 1 + self.dice.below(4));
        let change = || {
            let call = self.admin(Method::PATCH, &path).header("if-match", &version);
            call.json(&json!({ "maxClicks": after })).send()
        };
        let (answer, ()) = futures::join!(change(), self.count());
        let now = self.read(&code).await?;
        let most = now.body["maxClicks"].as_u64();
        let holds = match answer.status.as_u16() {
            200 => most == Some(after),
            412 => most == before,
            500.. => most == before || most == Some(after),
            _ => false,
        };
        if !holds {
            return Err(format!("{after} for {code}: {}, and then {}", answer.status, now.body));
        }
        self.record_version(&code, &now);
        if let Some(link) = self.expected.links.get_mut(&code) {
            link.max_clicks = most;
        }
        Ok(())
    }

    pub(super) async fn delete_or_restore(&mut self) -> Result {
        let Some(code) = self.random_link(|p| p.max_clicks.is_none()) else { return Ok(()) };
        let deleted = self.expected.links[&code].deleted;
        let (method, path) = if deleted {
            (Method::POST, format!("/api/v1/url/{code}/restore"))
        } else {
            (Method::DELETE, format!("/api/v1/url/{code}"))
        };
        let (answer, retried) = self.admin(method.clone(), &path).send_until_definite().await?;
        let holds = match answer.status.as_u16() {
            200 | 204 => true,
            // It met what it had done itself and not heard of.
            409 => deleted && retried,
            _ => false,
        };
        if !holds {
            return Err(format!("{method} {path}: {} {}", answer.status, answer.body));
        }
        self.changed(&code, |link| link.deleted = !deleted).await
    }

    pub(super) async fn block_or_unblock(&mut self) -> Result {
        let Some(code) = self.random_link(|p| p.max_clicks.is_none()) else { return Ok(()) };
        let blocked = self.expected.links[&code].blocked;
        let (verb, body) =
            if blocked { ("unblock", Value::Null) } else { ("block", json!({ "reason": "spam" })) };
        let path = format!("/api/v1/url/{code}/{verb}");
        let (answer, _) = self.admin(Method::POST, &path).json(&body).send_until_definite().await?;
        if answer.status != 200 {
            return Err(format!("{path}: {} {}", answer.status, answer.body));
        }
        self.changed(&code, |link| link.blocked = !blocked).await
    }

    /// Notes a change that was acknowledged, and sees that it is there.
    async fn changed(&mut self, code: &str, note: impl Fn(&mut ExpectedLink)) -> Result {
        let now = self.read(code).await?;
        self.record_version(code, &now);
        let Some(link) = self.expected.links.get_mut(code) else { return Ok(()) };
        note(link);
        link.reusable = false;
        let state = link.state();
        if now.text("state") == state {
            return Ok(());
        }
        Err(format!("{code} is expected to be {state}: {}", now.body))
    }
}

impl ExpectedLink {
    /// As the API calls it; links that end after some clicks are looked at apart.
    pub(super) fn state(&self) -> &'static str {
        match (self.deleted, self.blocked) {
            (true, _) => "deleted",
            (false, true) => "blocked",
            (false, false) => "live",
        }
    }
}
