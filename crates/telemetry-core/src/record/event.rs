//! The fixed words of an event.

use super::{FixedWords, HEAD_WORDS, Head, Kind, write_before};
use crate::event::EventValue;
use crate::id::{TaskId, WorkflowId};

const HAS_TASK: u8 = 1;
const HAS_WORKFLOW: u8 = 2;

/// Something was measured or counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in raw ticks.
    pub ticks: u64,
    /// How much.
    pub value: EventValue,
    /// The number of its series in the name table.
    pub series: u32,
    /// The task that it belongs to.
    pub task: Option<TaskId>,
    /// The workflow that it belongs to.
    pub workflow: Option<WorkflowId>,
}

impl Event {
    const WORDS: usize = 3;

    pub(super) fn decode(words: &[u64]) -> Option<Self> {
        let (fixed, mut rest) = words.split_first_chunk::<{ Self::WORDS }>()?;
        let flags = (fixed[2] >> 40) as u8;
        let mut id = |flag: u8| {
            if flags & flag == 0 {
                return Some([0; 2]);
            }
            let (id, after) = rest.split_first_chunk::<2>()?;
            rest = after;
            Some(*id)
        };
        let [task_high, task_low] = id(HAS_TASK)?;
        let [workflow_high, workflow_low] = id(HAS_WORKFLOW)?;
        Some(Self {
            ticks: fixed[0],
            value: EventValue::decode((fixed[2] >> 32) as u8, fixed[1])?,
            series: fixed[2] as u32,
            task: TaskId::from_words(task_high, task_low),
            workflow: WorkflowId::from_words(workflow_high, workflow_low),
        })
    }
}

impl FixedWords for Event {
    const KIND: Kind = Kind::Event;

    #[inline]
    fn write(&self, head: &mut Head) -> usize {
        let (class, bits) = self.value.encode();
        let flags = if self.task.is_some() { HAS_TASK } else { 0 }
            | if self.workflow.is_some() { HAS_WORKFLOW } else { 0 };
        let packed = u64::from(self.series) | u64::from(class) << 32 | u64::from(flags) << 40;
        let mut end = HEAD_WORDS;
        if let Some(workflow) = self.workflow {
            end = write_before(head, end, workflow.words());
        }
        if let Some(task) = self.task {
            end = write_before(head, end, task.words());
        }
        write_before(head, end, [self.ticks, bits, packed])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_back_with_and_without_its_owners() {
        let (task, workflow) = (TaskId::from_u128(0x7 << 64 | 0x8), WorkflowId::from_u128(0x9 << 64 | 0xA));
        for (task, workflow) in
            [(None, None), (Some(task), None), (None, Some(workflow)), (Some(task), Some(workflow))]
        {
            let event = Event { ticks: 5, value: EventValue::from(0.5), series: 3, task, workflow };
            let mut head = Head::default();
            let record = event.outgoing(&mut head);
            let words: Vec<u64> = record.words.iter().map(|word| u64::from_le_bytes(*word)).collect();
            assert_eq!(Event::decode(&words), Some(event));
            assert_eq!(Event::decode(&words[..words.len() - 1]), None);
        }
    }
}
