//! Custom domains: any number of claims, one owner.

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{Delete, Put, ReturnValuesOnConditionCheckFailure, Update};
use domain::accounts::UserId;
use domain::links::{DomainClaim, DomainName};
use domain::{Failure, Result, Timestamp};

use super::Links;
use store::row::{Builder, Item, ItemReader, broken, instant, key, text};
use store::schema::{GSI1, GSI1_PK, GSI1_SK};
use store::transaction::{Transacted, delete, put, transact, update};

/// Claims of a user that are listed.
const MAX_CLAIMS: i32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofOutcome {
    /// The domain is the claimant's.
    Proven,
    /// Another user proved it before.
    Taken,
}

impl Links {
    /// Records a claim; a repeated one returns the first.
    pub async fn claim_domain(&self, claim: &DomainClaim) -> Result<DomainClaim> {
        const ACTION: &str = "claim the domain";
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(claim_row(claim)))
            .condition_expression("attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match sent {
            Ok(_) => Ok(claim.clone()),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(lost)) => {
                    read_claim(lost.item().ok_or_else(|| broken("domain"))?)
                }
                _ => Err(Failure::new(ACTION, error)),
            },
        }
    }

    pub async fn find_claim(
        &self,
        name: &DomainName,
        owner: &UserId,
    ) -> Result<Option<DomainClaim>> {
        let found = self.read_domain_row(name, &claim_sk(owner)).await?;
        found.as_ref().map(read_claim).transpose()
    }

    /// The user who has proven to control the domain.
    pub async fn domain_owner(&self, name: &DomainName) -> Result<Option<UserId>> {
        let found = self.read_domain_row(name, "domain").await?;
        found.map(|item| ItemReader(&item).text("owner").map(UserId::outside)).transpose()
    }

    /// A user's claims, by name.
    pub async fn list_claims(&self, owner: &UserId) -> Result<Vec<DomainClaim>> {
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI1)
            .key_condition_expression("gsi1pk = :list")
            .expression_attribute_values(":list", text(claims_of(owner)))
            .limit(MAX_CLAIMS)
            .send()
            .await
            .map_err(|cause| Failure::new("list the domains", cause))?;
        found.items().iter().map(read_claim).collect()
    }

    /// Makes the claimant the domain's owner, unless it has one.
    pub async fn prove_claim(
        &self,
        claim: &DomainClaim,
        now: Timestamp,
        token: &str,
    ) -> Result<ProofOutcome> {
        const ACTION: &str = "prove the domain";
        let owned = Builder::keyed(&domain_pk(&claim.name), "domain")
            .with("owner", text(claim.owner.as_str()))
            .with("verified_at", instant(now));
        let owned = Put::builder()
            .table_name(&self.table)
            .set_item(Some(owned.build()))
            .condition_expression("attribute_not_exists(pk) OR #owner = :owner")
            .expression_attribute_names("#owner", "owner")
            .expression_attribute_values(":owner", text(claim.owner.as_str()))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let verified = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&domain_pk(&claim.name), &claim_sk(&claim.owner))))
            .update_expression("SET verified_at = :now")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_values(":now", instant(now))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let items = vec![put(owned), update(verified)];
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => ProofOutcome::Proven,
            Transacted::Refused(_) => ProofOutcome::Taken,
        })
    }

    /// Deletes a claim, and the ownership of the domain if it was proven.
    pub async fn release_domain(&self, claim: &DomainClaim, token: &str) -> Result {
        const ACTION: &str = "release the domain";
        let row = |sk: &str| {
            Delete::builder()
                .table_name(&self.table)
                .set_key(Some(key(&domain_pk(&claim.name), sk)))
        };
        let claimed = row(&claim_sk(&claim.owner)).condition_expression("attribute_exists(pk)");
        let mut items = vec![claimed.build()];
        if claim.verified_at.is_some() {
            let owned = row("domain")
                .condition_expression("#owner = :owner")
                .expression_attribute_names("#owner", "owner")
                .expression_attribute_values(":owner", text(claim.owner.as_str()));
            items.push(owned.build());
        }
        let items = items
            .into_iter()
            .map(|item| item.map(delete).map_err(|cause| Failure::new(ACTION, cause)))
            .collect::<Result<Vec<_>, _>>()?;
        // Refused means that it is deleted already.
        transact(&self.client, ACTION, items, token).await.map(|_| ())
    }

    async fn read_domain_row(&self, name: &DomainName, sk: &str) -> Result<Option<Item>> {
        self.get(key(&domain_pk(name), sk), "read the domain").await
    }
}

fn domain_pk(name: &DomainName) -> String {
    format!("domain#{}", name.as_str())
}

fn claim_sk(owner: &UserId) -> String {
    format!("claim#{}", owner.as_str())
}

fn claims_of(owner: &UserId) -> String {
    format!("domains#{}", owner.as_str())
}

fn claim_row(claim: &DomainClaim) -> Item {
    Builder::keyed(&domain_pk(&claim.name), &claim_sk(&claim.owner))
        .with(GSI1_PK, text(claims_of(&claim.owner)))
        .with(GSI1_SK, text(claim.name.as_str()))
        .with("domain", text(claim.name.as_str()))
        .with("owner", text(claim.owner.as_str()))
        .with("token", text(&claim.token))
        .with("created_at", instant(claim.created_at))
        .with_some("verified_at", claim.verified_at.map(instant))
        .build()
}

fn read_claim(item: &Item) -> Result<DomainClaim> {
    let row = ItemReader(item);
    Ok(DomainClaim {
        name: DomainName::parse(row.text("domain")?).map_err(|_| broken("domain"))?,
        owner: UserId::outside(row.text("owner")?),
        token: row.text("token")?.to_owned(),
        created_at: row.instant("created_at")?,
        verified_at: row.maybe_instant("verified_at"),
    })
}
