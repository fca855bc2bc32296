//! A small mixture-of-experts transformer in candle. Nothing in here knows that it is recorded.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Embedding, LayerNorm, Linear, Module};

/// The sizes of the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub(crate) vocabulary: usize,
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
    pub(crate) experts: usize,
    /// Experts that a token goes to.
    pub(crate) top_k: usize,
    /// The width of an expert.
    pub(crate) width: usize,
}

impl Config {
    pub(crate) const SMALL: Self =
        Self { vocabulary: 256, hidden: 64, heads: 4, layers: 4, experts: 8, top_k: 2, width: 128 };
}

/// All weights.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) config: Config,
    pub(crate) embedding: Embedding,
    pub(crate) layers: Vec<Layer>,
    pub(crate) final_norm: LayerNorm,
    pub(crate) lm_head: Linear,
}

/// One layer: attention, then experts.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) attention_norm: LayerNorm,
    pub(crate) qkv: Linear,
    pub(crate) output: Linear,
    pub(crate) expert_norm: LayerNorm,
    pub(crate) router: Linear,
    pub(crate) experts: Vec<Expert>,
}

/// One expert: a feed-forward network.
#[derive(Debug)]
pub(crate) struct Expert {
    up: Linear,
    down: Linear,
}

impl Expert {
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.down.forward(&self.up.forward(x)?.gelu()?)
    }
}

/// The keys and values of the tokens so far, of one sequence in one layer.
#[derive(Debug, Default)]
pub(crate) struct Cache(Option<(Tensor, Tensor)>);

impl Cache {
    /// How many tokens it has.
    pub(crate) fn tokens(&self) -> usize {
        self.0.as_ref().map_or(0, |(keys, _)| keys.dims()[1])
    }
}

/// Where each token goes, and with which weight: `(expert, tokens, weights)`.
pub(crate) type Routes = Vec<(usize, Vec<u32>, Vec<f32>)>;

impl Model {
    /// A model with weights that are random and the same for the same seed.
    pub(crate) fn random(config: Config, seed: u64) -> Result<Self> {
        let mut weights = Weights { state: seed };
        let Config { vocabulary, hidden, .. } = config;
        Ok(Self {
            config,
            embedding: Embedding::new(weights.tensor(vocabulary, hidden)?, hidden),
            layers: (0..config.layers).map(|_| Layer::random(config, &mut weights)).collect::<Result<_>>()?,
            final_norm: norm(hidden)?,
            lm_head: weights.linear(hidden, vocabulary)?,
        })
    }
}

impl Layer {
    fn random(config: Config, weights: &mut Weights) -> Result<Self> {
        let Config { hidden, width, experts, .. } = config;
        let expert = |weights: &mut Weights| {
            Ok(Expert { up: weights.linear(hidden, width)?, down: weights.linear(width, hidden)? })
        };
        Ok(Self {
            attention_norm: norm(hidden)?,
            qkv: weights.linear(hidden, 3 * hidden)?,
            output: weights.linear(hidden, hidden)?,
            expert_norm: norm(hidden)?,
            router: weights.linear(hidden, experts)?,
            experts: (0..experts).map(|_| expert(weights)).collect::<Result<_>>()?,
        })
    }

    /// Attention of the new tokens to themselves and to those in the cache, which they join.
    pub(crate) fn attend(&self, qkv: &Tensor, heads: usize, cache: &mut Cache) -> Result<Tensor> {
        let (tokens, width) = qkv.dims2()?;
        let hidden = width / 3;
        let split = |part: usize| {
            let part = qkv.narrow(1, part * hidden, hidden)?;
            part.reshape((tokens, heads, hidden / heads))?.transpose(0, 1)?.contiguous()
        };
        let (query, mut keys, mut values) = (split(0)?, split(1)?, split(2)?);
        if let Some((earlier_keys, earlier_values)) = cache.0.take() {
            keys = Tensor::cat(&[&earlier_keys, &keys], 1)?;
            values = Tensor::cat(&[&earlier_values, &values], 1)?;
        }
        let scale = (heads as f64 / hidden as f64).sqrt();
        let scores = (query.matmul(&keys.t()?.contiguous()?)? * scale)?;
        let attention = softmax_last_dim(&scores.broadcast_add(&mask(tokens, keys.dim(1)?)?)?)?;
        let mixed = attention.matmul(&values)?.transpose(0, 1)?.reshape((tokens, hidden))?;
        cache.0 = Some((keys, values));
        self.output.forward(&mixed)
    }

    /// The best experts of each token; their weights sum to 1.
    pub(crate) fn route(&self, x: &Tensor, top_k: usize) -> Result<Routes> {
        let chances = softmax_last_dim(&self.router.forward(x)?)?.to_vec2::<f32>()?;
        let mut routes: Routes = (0..self.experts.len()).map(|expert| (expert, vec![], vec![])).collect();
        for (token, chances) in chances.iter().enumerate() {
            let mut order: Vec<usize> = (0..chances.len()).collect();
            order.sort_by(|&a, &b| chances[b].total_cmp(&chances[a]));
            let sum: f32 = order[..top_k].iter().map(|&expert| chances[expert]).sum();
            for &expert in &order[..top_k] {
                routes[expert].1.push(token as u32);
                routes[expert].2.push(chances[expert] / sum);
            }
        }
        routes.retain(|(_, tokens, _)| !tokens.is_empty());
        Ok(routes)
    }
}

/// The most likely next token after the last position.
pub(crate) fn most_likely(logits: &Tensor) -> Result<u32> {
    logits.narrow(0, logits.dim(0)? - 1, 1)?.squeeze(0)?.argmax(D::Minus1)?.to_scalar()
}

/// A token sees those before it and itself.
fn mask(tokens: usize, seen: usize) -> Result<Tensor> {
    let earlier = seen - tokens;
    let hidden = |row: usize, column: usize| if column > earlier + row { f32::NEG_INFINITY } else { 0.0 };
    let values: Vec<f32> =
        (0..tokens).flat_map(|row| (0..seen).map(move |column| hidden(row, column))).collect();
    Tensor::from_vec(values, (tokens, seen), &Device::Cpu)
}

fn norm(hidden: usize) -> Result<LayerNorm> {
    let ones = Tensor::ones(hidden, DType::F32, &Device::Cpu)?;
    Ok(LayerNorm::new(ones, Tensor::zeros(hidden, DType::F32, &Device::Cpu)?, 1e-5))
}

/// Random weights, the same for the same seed (`SplitMix64`).
struct Weights {
    state: u64,
}

impl Weights {
    fn linear(&mut self, from: usize, to: usize) -> Result<Linear> {
        Ok(Linear::new(self.tensor(to, from)?, None))
    }

    fn tensor(&mut self, rows: usize, columns: usize) -> Result<Tensor> {
        let scale = (3.0 / columns as f32).sqrt();
        let values: Vec<f32> = (0..rows * columns).map(|_| scale * self.next()).collect();
        Tensor::from_vec(values, (rows, columns), &Device::Cpu)
    }

    /// Between -1 and 1.
    fn next(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ bits >> 31) >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}
