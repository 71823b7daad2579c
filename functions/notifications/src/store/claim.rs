//! Claiming: an attempt is somebody's only if the person still wants it and the address is still good.

use aws_sdk_dynamodb::types::{
    ConditionCheck, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};
use domain::accounts::UserId;
use domain::notifications::{
    Address, Delivery, Event, ProviderName, Refusal, Rendering, Step, Suppression, transition,
};
use domain::{Failure, Timestamp};

use super::{Notifications, Person, rows};
use store::row::{key, number};
use store::transaction::{Transacted, check, transact};

const ACTION: &str = "claim the delivery";

/// An attempt to claim, and what it was decided by.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// The delivery as it was read.
    pub delivery: &'a Delivery,
    /// What its person wanted, and where they were.
    pub person: &'a Person,
    /// Where it goes.
    pub address: &'a Address,
    /// Who claims it: a name that nobody else has.
    pub by: &'a str,
    pub provider: &'a ProviderName,
    /// What its text was made from.
    pub rendering: Option<&'a Rendering>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Claimed {
    /// It may be handed over, once; this is the delivery.
    Claimed(Box<Delivery>),
    /// The delivery is not what it was; read it again and decide again.
    Moved,
    /// Its person has changed their preferences or contacts; read them again and decide again.
    PersonMoved,
    /// Nothing goes to this address any more.
    Suppressed(Suppression),
    /// It can't be claimed as it was read.
    Refused(Refusal),
}

impl Notifications {
    /// Claims the next attempt at a delivery: one transaction with a check of everything that it was
    /// decided by and that somebody else can change.
    pub async fn claim(
        &self,
        claim: Claim<'_>,
        now: Timestamp,
        token: &str,
    ) -> Result<Claimed, Failure> {
        let before = claim.delivery;
        let event = Event::Claimed {
            by: claim.by.to_owned(),
            attempt: before.attempt + 1,
            provider: claim.provider.clone(),
            rendering: claim.rendering.cloned(),
            to: Some(Suppression::key(claim.address)),
        };
        let after = match transition(before, &event, now) {
            Step::Become(after) => after,
            Step::Stay => return Ok(Claimed::Claimed(Box::new(before.clone()))),
            Step::Refuse(refusal) => return Ok(Claimed::Refused(refusal)),
        };
        let items = vec![
            self.next_row(rows::delivery(&after, now)?, before.version, ACTION)?,
            self.same_person(&before.user, claim.person)?,
            self.good_address(claim.address)?,
        ];
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(Claimed::Claimed(after));
        }
        if let Some(met) = outcome.refused(0) {
            // Whoever asks again under another token has it none the less.
            let met: Option<Delivery> = (!met.is_empty()).then(|| rows::read(met)).transpose()?;
            let ours = met.filter(|met| transition(met, &event, now) == Step::Stay);
            return Ok(ours.map_or(Claimed::Moved, |met| Claimed::Claimed(Box::new(met))));
        }
        match outcome.refused(2) {
            Some(met) if outcome.refused(1).is_none() => Ok(Claimed::Suppressed(rows::read(met)?)),
            _ => Ok(Claimed::PersonMoved),
        }
    }

    /// Both versions are in one small row: a check costs what the whole row would cost to write.
    fn same_person(&self, user: &UserId, person: &Person) -> Result<TransactWriteItem, Failure> {
        let mut same = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(key(&rows::user_pk(user), rows::STAMP)));
        let mut conditions = Vec::new();
        for (name, version) in [
            (rows::PREFERENCES, person.preferences.version),
            (rows::CONTACTS, person.contacts.version),
        ] {
            if version == 0 {
                conditions.push(format!("attribute_not_exists({name})"));
            } else {
                conditions.push(format!("{name} = :{name}"));
                same = same.expression_attribute_values(format!(":{name}"), number(version));
            }
        }
        same.condition_expression(conditions.join(" AND "))
            .build()
            .map(check)
            .map_err(|cause| Failure::new(ACTION, cause))
    }

    fn good_address(&self, address: &Address) -> Result<TransactWriteItem, Failure> {
        ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(rows::suppression_key(address)))
            .condition_expression("attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map(check)
            .map_err(|cause| Failure::new(ACTION, cause))
    }
}
