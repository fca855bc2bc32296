//! Inference with a mixture of experts on two devices, recorded packet by packet, with session files.
//!
//! Run it with `cargo run --release --features candle --example moe_inference`, or with `-- --tokens N` for
//! more tokens. Then look into `.telemetry/sessions/`: docs/sessions.md says what is there.
#![expect(clippy::print_stdout, reason = "an example that shows something")]

mod devices;
mod model;
mod packets;

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use candle_core::{Result, Tensor};
use telemetry::{Context, Recorder, Settings, Workflow, export};

use devices::Device;
use model::{Cache, Config, Layer, Model, most_likely};
use packets::Packet;

const PROMPTS: [&str; 2] = ["Which expert would you ask about a telescope?", "Once upon a time"];
const TOKENS: usize = 16;
/// A sequence is cut to its last tokens beyond this many.
const CONTEXT_MAX: usize = 256;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let tokens = tokens_wanted()?;
    let mut settings = Settings::load()?.settings;
    settings.session.enabled = true;
    let recorder = Recorder::start(settings)?;
    let workflow = Workflow::start("moe_inference");
    let inference = Inference {
        model: Model::random(Config::SMALL, 42)?,
        cpu: Device::new("cpu", usize::MAX)?,
        // Enough for the packets of single tokens, too little for some of a whole prompt.
        igpu: Device::new("igpu", 12 << 10)?,
        packets: AtomicU64::new(0),
    };
    // The sequences take turns on the devices.
    let context = Context::current();
    let generate = |prompt: &str| context.run(|| inference.generate(prompt, tokens));
    let generated = thread::scope(|scope| {
        PROMPTS.map(|prompt| scope.spawn(move || generate(prompt))).map(thread::ScopedJoinHandle::join)
    });
    for (prompt, tokens) in PROMPTS.iter().zip(generated) {
        let tokens = tokens.map_err(|_| "a sequence panicked")??;
        println!("{prompt:?} goes on with the tokens {:?}", &tokens[..tokens.len().min(8)]);
    }
    let id = workflow.id();
    workflow.end();
    let Some(id) = id else { return Ok(()) };
    if let Some(summary) = recorder.summary(id, Duration::from_secs(30))? {
        println!("\n{}", export::session::text(&summary));
        println!("Packets: {}", summary.csv_log.unwrap_or_default());
        println!("Figures: {}", summary.json_summary.unwrap_or_default());
    }
    Ok(())
}

/// What stands after `--tokens`.
fn tokens_wanted() -> std::result::Result<usize, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--tokens"), Some(number)) => Ok(number.parse()?),
        (None, _) => Ok(TOKENS),
        _ => Err("usage: moe_inference [--tokens N]".into()),
    }
}

/// A model on two devices.
#[derive(Debug)]
struct Inference {
    model: Model,
    cpu: Device,
    igpu: Device,
    packets: AtomicU64,
}

impl Inference {
    /// Goes on with a prompt, token by token.
    fn generate(&self, prompt: &str, wanted: usize) -> Result<Vec<u32>> {
        let mut caches = self.empty_caches();
        let mut known: Vec<u32> = prompt.bytes().map(u32::from).collect();
        let mut next = self.step(&known, known.len(), &mut caches)?;
        let mut generated = vec![next];
        while generated.len() < wanted {
            known.push(next);
            next = if known.len() > CONTEXT_MAX {
                known.drain(..CONTEXT_MAX / 2);
                caches = self.empty_caches();
                self.step(&known, 0, &mut caches)?
            } else {
                self.step(&[next], 0, &mut caches)?
            };
            generated.push(next);
        }
        Ok(generated)
    }

    fn empty_caches(&self) -> Vec<Cache> {
        self.model.layers.iter().map(|_| Cache::default()).collect()
    }

    /// Runs new tokens through the model; answers the token that comes next.
    fn step(&self, tokens: &[u32], prompt_tokens: usize, caches: &mut [Cache]) -> Result<u32> {
        let model = &self.model;
        let tokens = Tensor::new(tokens, &candle_core::Device::Cpu)?;
        let mut x =
            self.on(&self.cpu, -1, |packet| packets::embedding(packet, model, &tokens, prompt_tokens))?;
        for ((index, layer), cache) in (0_i64..).zip(&model.layers).zip(caches) {
            x = (&x + self.attention(index, layer, &x, cache)?)?;
            x = (&x + self.experts(index, layer, &x)?)?;
        }
        let last = model.layers.len() as i64;
        let x = x.narrow(0, x.dim(0)? - 1, 1)?;
        let x = self.on(&self.cpu, last, |packet| packets::layernorm(packet, &model.final_norm, &x))?;
        most_likely(&self.on(&self.cpu, last, |packet| packets::lm_head(packet, model, &x))?)
    }

    fn attention(&self, index: i64, layer: &Layer, x: &Tensor, cache: &mut Cache) -> Result<Tensor> {
        let config = &self.model.config;
        let x = self.on(&self.cpu, index, |packet| packets::layernorm(packet, &layer.attention_norm, x))?;
        let project = |packet: Packet<'_>| packets::attention_qkv_proj(packet, layer, &x);
        let qkv = self.on_igpu(index, project)?;
        // Not tried twice: it changes the cache.
        let device = if qkv.dim(0)? == 1 { &self.igpu } else { &self.cpu };
        self.on(device, index, |packet| packets::attention(packet, config, layer, &qkv, cache))
    }

    /// The experts that the router chose, each with its tokens.
    fn experts(&self, index: i64, layer: &Layer, x: &Tensor) -> Result<Tensor> {
        let config = &self.model.config;
        let x = self.on(&self.cpu, index, |packet| packets::layernorm(packet, &layer.expert_norm, x))?;
        let routes =
            self.on(&self.cpu, index, |packet| packets::expert_selection(packet, config, layer, &x))?;
        let mut sum = x.zeros_like()?;
        for (number, tokens, weights) in routes {
            let tokens = Tensor::new(tokens, x.device())?;
            let weights = Tensor::new(weights, x.device())?.unsqueeze(1)?;
            let (chosen, expert) = (x.index_select(&tokens, 0)?, &layer.experts[number]);
            let run = |packet: Packet<'_>| packets::expert_ffn(packet, config, expert, &chosen);
            let answer = self.on_igpu(index, run)?.broadcast_mul(&weights)?;
            sum = sum.index_add(&tokens, &answer, 0)?;
        }
        Ok(sum)
    }

    /// Runs a packet on the iGPU, or on the CPU where that has not enough memory.
    fn on_igpu(&self, layer: i64, run: impl Fn(Packet<'_>) -> Result<Tensor> + Sync) -> Result<Tensor> {
        self.on(&self.igpu, layer, &run).or_else(|_| self.on(&self.cpu, layer, &run))
    }

    fn on<R: Send>(
        &self,
        device: &Device,
        layer: i64,
        run: impl FnOnce(Packet<'_>) -> Result<R> + Send,
    ) -> Result<R> {
        let id = self.packets.fetch_add(1, Ordering::Relaxed);
        device.run(|| run(Packet { id, device, layer }))
    }
}
