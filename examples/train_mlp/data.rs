//! Data that the example makes: ten patterns, each with noise, and which of them it is.

use candle_core::{Device, Result, Tensor};

/// How large everything is.
pub(crate) const FEATURES: usize = 784;
pub(crate) const HIDDEN: usize = 1024;
pub(crate) const NARROW: usize = 512;
pub(crate) const CLASSES: usize = 10;
pub(crate) const BATCH_SIZE: usize = 128;
pub(crate) const BATCHES: usize = 20;
pub(crate) const EPOCHS: usize = 3;
/// How fast it learns.
pub(crate) const RATE: f64 = 1e-4;

/// So many batches of images and labels.
pub(crate) fn batches(count: usize, size: usize) -> Result<Vec<(Tensor, Tensor)>> {
    let mut noise = Noise(7);
    let patterns: Vec<f32> = (0..CLASSES * FEATURES).map(|_| noise.next()).collect();
    (0..count)
        .map(|_| {
            let labels: Vec<u32> = (0..size).map(|_| noise.draw() as u32 % CLASSES as u32).collect();
            let pixel = |label: &u32, feature| patterns[*label as usize * FEATURES + feature];
            let pixels =
                labels.iter().flat_map(|label| (0..FEATURES).map(move |feature| pixel(label, feature)));
            let images: Vec<f32> = pixels.map(|pixel| 0.3 * pixel + noise.next()).collect();
            let images = Tensor::from_vec(images, (size, FEATURES), &Device::Cpu)?;
            Ok((images, Tensor::from_vec(labels, size, &Device::Cpu)?))
        })
        .collect()
}

/// Numbers that look random and are the same each time.
struct Noise(u64);

impl Noise {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn next(&mut self) -> f32 {
        (self.draw() % 2001) as f32 / 1000.0 - 1.0
    }
}
