//! Functions twice: with an attribute, and as they would be without it.

/// With attributes.
pub mod attributed {
    use telemetry::{task, workflow};

    #[task(output = "y")]
    pub fn double(x: u64) -> u64 {
        2 * x
    }

    #[task(skip(secret))]
    pub async fn wait(secret: [u8; 64], ready: impl Future<Output = u64>) -> Result<u64, String> {
        let number = ready.await;
        Ok(number + u64::from(secret[0]))
    }

    #[workflow(name = "whole")]
    pub fn whole(x: u64) -> u64 {
        double(double(x))
    }
}

/// Without.
pub mod bare {
    pub fn double(x: u64) -> u64 {
        2 * x
    }

    pub async fn wait(secret: [u8; 64], ready: impl Future<Output = u64>) -> Result<u64, String> {
        let number = ready.await;
        Ok(number + u64::from(secret[0]))
    }

    pub fn whole(x: u64) -> u64 {
        double(double(x))
    }
}
