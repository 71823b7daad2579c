//! Numbers for codes: a thousand at a time, in one conditional write.

use aws_sdk_dynamodb::types::ReturnValue;
use domain::links::code::{ALL_CODES, CodeKey, CodeRange, LEASE_SIZE};
use domain::{Failure, Result};

use super::Links;
use store::row::{ItemReader, broken, bytes, key, number};

const ACTION: &str = "lease numbers for codes";

impl Links {
    /// The next thousand numbers, for this instance alone, and the key they are permuted with.
    ///
    /// The first lease of all decides the key: it stores `fresh`. A lease that was committed and then
    /// repeated skips a thousand numbers, of which there are enough; no number is ever leased twice,
    /// and none past the last.
    pub async fn lease_codes(&self, fresh: &CodeKey) -> Result<(CodeKey, CodeRange)> {
        let done = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key("codes", "codes")))
            .update_expression(
                "SET code_key = if_not_exists(code_key, :fresh), \
                 next_number = if_not_exists(next_number, :zero) + :lease",
            )
            .condition_expression("attribute_not_exists(pk) OR next_number <= :last")
            .expression_attribute_values(":fresh", bytes(fresh.as_bytes()))
            .expression_attribute_values(":zero", number(0))
            .expression_attribute_values(":lease", number(LEASE_SIZE))
            .expression_attribute_values(":last", number(ALL_CODES - LEASE_SIZE))
            .return_values(ReturnValue::AllNew)
            .send()
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let item = done.attributes().ok_or_else(|| broken("next_number"))?;
        let row = ItemReader(item);
        let end: u64 = row.number("next_number")?;
        let code_key = row.bytes("code_key")?.try_into().map_err(|_| broken("code_key"))?;
        Ok((CodeKey::from_bytes(code_key), CodeRange::new(end.saturating_sub(LEASE_SIZE), end)))
    }
}
