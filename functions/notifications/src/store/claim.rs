//! Claims an attempt, if the user still wants it and the address is still usable.

use aws_sdk_dynamodb::types::{
    ConditionCheck, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};
use domain::accounts::UserId;
use domain::notifications::{
    Address, Delivery, Event, IllegalTransition, ProviderName, Rendering, Suppression, Transition,
    transition,
};
use domain::{Failure, Result, Timestamp};

use super::{Notifications, Recipient, rows};
use store::row::{key, number};
use store::transaction::{Transacted, check, transact};

const ACTION: &str = "claim the delivery";

/// An attempt to claim, and what it was decided by.
#[derive(Debug, Clone, Copy)]
pub struct AttemptClaim<'a> {
    /// The delivery as it was read.
    pub delivery: &'a Delivery,
    /// What its person wanted, and where they were.
    pub recipient: &'a Recipient,
    pub address: &'a Address,
    /// The claimant: a unique name.
    pub by: &'a str,
    pub provider: &'a ProviderName,
    /// What its text was made from.
    pub rendering: Option<&'a Rendering>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// It may be handed over, once; this is the delivery.
    Won(Box<Delivery>),
    /// The delivery is not what it was; read it again and decide again.
    Conflict,
    /// Its person has changed their preferences or contacts; read them again and decide again.
    RecipientChanged,
    /// Nothing goes to this address any more.
    Suppressed(Suppression),
    /// It can't be claimed as it was read.
    Illegal(IllegalTransition),
}

impl Notifications {
    /// Claims the next attempt at a delivery: one transaction with a check of everything that it was
    /// decided by and that can change meanwhile.
    pub async fn claim(
        &self,
        claim: AttemptClaim<'_>,
        now: Timestamp,
        token: &str,
    ) -> Result<ClaimOutcome> {
        let before = claim.delivery;
        let event = Event::Claimed {
            by: claim.by.to_owned(),
            attempt: before.attempt + 1,
            provider: claim.provider.clone(),
            rendering: claim.rendering.cloned(),
            to: Some(Suppression::key(claim.address)),
        };
        let after = match transition(before, &event, now) {
            Transition::Changed(after) => after,
            Transition::Unchanged => return Ok(ClaimOutcome::Won(Box::new(before.clone()))),
            Transition::Illegal(refusal) => return Ok(ClaimOutcome::Illegal(refusal)),
        };
        let items = vec![
            self.next_row(rows::delivery(&after, now)?, before.version, ACTION)?,
            self.check_recipient(&before.user, claim.recipient)?,
            self.check_not_suppressed(claim.address)?,
        ];
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(ClaimOutcome::Won(after));
        }
        if let Some(current) = outcome.refused(0) {
            // A repeat of the same claim under another token has won it too.
            let current: Option<Delivery> =
                (!current.is_empty()).then(|| rows::from_item(current)).transpose()?;
            let ours =
                current.filter(|current| transition(current, &event, now) == Transition::Unchanged);
            return Ok(
                ours.map_or(ClaimOutcome::Conflict, |current| ClaimOutcome::Won(Box::new(current)))
            );
        }
        match outcome.refused(2) {
            Some(current) if outcome.refused(1).is_none() => {
                Ok(ClaimOutcome::Suppressed(rows::from_item(current)?))
            }
            _ => Ok(ClaimOutcome::RecipientChanged),
        }
    }

    /// Both versions are in one small row: a check costs what the whole row would cost to write.
    fn check_recipient(&self, user: &UserId, recipient: &Recipient) -> Result<TransactWriteItem> {
        let mut same = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(key(&rows::user_pk(user), rows::STAMP)));
        let mut conditions = Vec::new();
        for (name, version) in [
            (rows::PREFERENCES, recipient.preferences.version),
            (rows::CONTACTS, recipient.contacts.version),
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

    fn check_not_suppressed(&self, address: &Address) -> Result<TransactWriteItem> {
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
