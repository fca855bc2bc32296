//! The work packets: each is a task that says on which device it ran, for which stage and layer, and what it
//! cost. These are the names that a session's files have columns for.

use candle_core::{Error, Result, Tensor};
use candle_nn::{LayerNorm, Module};
use telemetry::{current_task, task};

use crate::devices::Device;
use crate::model::{Cache, Config, Expert, Layer, Model, Routes};

/// What every packet has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    pub(crate) id: u64,
    pub(crate) device: &'a Device,
    /// -1 before the layers, their number after them.
    pub(crate) layer: i64,
}

/// What a packet took besides its time.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Memory between its input and its result.
    between_bytes: usize,
    flops: usize,
    /// The same without experts: every token would go to all of them.
    dense_flops: usize,
}

impl Cost {
    /// Of a product of matrices that no expert saves.
    fn product(flops: usize) -> Self {
        Self { flops, dense_flops: flops, ..Self::default() }
    }
}

#[task(skip_all, metadata(
    device = packet.device.name, worker_instance = "cpu_embedding", packet_id = packet.id, layer_idx = packet.layer,
    operation = "embedding",
))]
pub(crate) fn embedding(packet: Packet<'_>, model: &Model, tokens: &Tensor, prompt: usize) -> Result<Tensor> {
    current_task().metadata("prompt_tokens", prompt);
    done(packet, Cost::default(), model.embedding.forward(tokens)?)
}

#[task(skip_all, metadata(
    device = packet.device.name, worker_instance = format!("cpu_layernorm_layer_{}", packet.layer),
    packet_id = packet.id, layer_idx = packet.layer, operation = "layernorm",
))]
pub(crate) fn layernorm(packet: Packet<'_>, norm: &LayerNorm, x: &Tensor) -> Result<Tensor> {
    done(packet, Cost::default(), norm.forward(x)?)
}

#[task(skip_all, metadata(
    device = packet.device.name, worker_instance = format!("igpu_attention_layer_{}", packet.layer),
    packet_id = packet.id, layer_idx = packet.layer, operation = "attention_qkv_proj",
))]
pub(crate) fn attention_qkv_proj(packet: Packet<'_>, layer: &Layer, x: &Tensor) -> Result<Tensor> {
    let qkv = layer.qkv.forward(x)?;
    done(packet, Cost::product(2 * x.elem_count() * qkv.dim(1)?), qkv)
}

#[task(skip_all, metadata(
    device = packet.device.name, worker_instance = format!("igpu_attention_layer_{}", packet.layer),
    packet_id = packet.id, layer_idx = packet.layer, operation = "attention",
))]
pub(crate) fn attention(
    packet: Packet<'_>,
    config: &Config,
    layer: &Layer,
    qkv: &Tensor,
    cache: &mut Cache,
) -> Result<Tensor> {
    let mixed = layer.attend(qkv, config.heads, cache)?;
    let seen = cache.tokens();
    let cost = Cost::product(mixed.elem_count() * (4 * seen + 2 * config.hidden));
    done(packet, Cost { between_bytes: 4 * config.heads * qkv.dim(0)? * seen, ..cost }, mixed)
}

/// The router says which experts it chose, once for each token.
#[task(skip_all, metadata(
    device = packet.device.name, worker_instance = "cpu_router", packet_id = packet.id, layer_idx = packet.layer,
    operation = "expert_selection",
))]
pub(crate) fn expert_selection(
    packet: Packet<'_>,
    config: &Config,
    layer: &Layer,
    x: &Tensor,
) -> Result<Routes> {
    let routes = layer.route(x, config.top_k)?;
    let chosen: Vec<usize> =
        routes.iter().flat_map(|(expert, tokens, _)| std::iter::repeat_n(*expert, tokens.len())).collect();
    current_task().metadata("experts", &chosen);
    current_task().metadata("num_experts", config.experts);
    note(packet, Cost::product(2 * x.elem_count() * config.experts), 0)?;
    Ok(routes)
}

#[task(skip_all, metadata(
    device = packet.device.name, worker_instance = format!("igpu_expert_ffn_layer_{}", packet.layer),
    packet_id = packet.id, layer_idx = packet.layer, operation = "expert_ffn",
))]
pub(crate) fn expert_ffn(packet: Packet<'_>, config: &Config, expert: &Expert, x: &Tensor) -> Result<Tensor> {
    let flops = 4 * x.elem_count() * config.width;
    let between_bytes = 4 * x.dim(0)? * config.width;
    let cost = Cost { between_bytes, flops, dense_flops: flops * config.experts / config.top_k };
    done(packet, cost, expert.forward(x)?)
}

#[task(skip_all, metadata(
    device = packet.device.name, worker_instance = "cpu_lm_head", packet_id = packet.id, layer_idx = packet.layer,
    operation = "lm_head", tokens_generated = 1,
))]
pub(crate) fn lm_head(packet: Packet<'_>, model: &Model, x: &Tensor) -> Result<Tensor> {
    done(packet, Cost::product(2 * x.elem_count() * model.config.vocabulary), model.lm_head.forward(x)?)
}

fn done(packet: Packet<'_>, cost: Cost, result: Tensor) -> Result<Tensor> {
    note(packet, cost, result.elem_count() * result.dtype().size_in_bytes())?;
    Ok(result)
}

/// Notes what the packet took, and fails where its device has not so much memory.
fn note(packet: Packet<'_>, cost: Cost, result_bytes: usize) -> Result<()> {
    let bytes = cost.between_bytes + result_bytes;
    current_task().metadata("memory_used_mb", bytes as f64 / f64::from(1 << 20));
    if cost.flops > 0 {
        current_task().metadata("flops", cost.flops);
        current_task().metadata("dense_flops", cost.dense_flops);
    }
    if bytes > packet.device.memory_bytes {
        return Err(Error::Msg(format!("{} out of memory: {bytes} bytes", packet.device.name)));
    }
    Ok(())
}
