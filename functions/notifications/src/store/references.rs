//! From a provider's id of a message to its delivery.

use domain::Result;
use domain::notifications::{DeliveryId, ProviderName};

use super::{Notifications, rows};
use store::row::ItemReader;

impl Notifications {
    /// The delivery that a provider's callback is about: by our key, which needs no reading, or by
    /// their name for it.
    pub async fn delivery_by_reference(
        &self,
        provider: &ProviderName,
        reference: &str,
    ) -> Result<Option<DeliveryId>> {
        if let Some(id) = DeliveryId::parse(reference) {
            return Ok(Some(id));
        }
        let key = rows::reference_key(provider, reference);
        let found = self.get(key, "read a provider's reference").await?;
        let leads_to = found.as_ref().map(|item| ItemReader(item).text("leads_to")).transpose()?;
        Ok(leads_to.and_then(DeliveryId::parse))
    }
}
