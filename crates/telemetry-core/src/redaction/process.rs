//! What is recorded once a process: its command line, environment, settings and repository.

use serde_json::Value;

use super::Redactor;
use crate::record::ProcessName;

impl Redactor {
    /// The facts about a process with what is secret in them replaced.
    pub fn process(&self, process: ProcessName) -> ProcessName {
        let text = |text: Option<String>| text.map(|text| self.text(&text).into_owned());
        ProcessName {
            name: text(process.name),
            user: text(process.user),
            hostname: text(process.hostname),
            exe: text(process.exe),
            cmd_line: self.arguments(process.cmd_line),
            // Their keys are ours: a section of the settings is called `session`.
            settings: self.json_texts(process.settings),
            code_repository: self.json_texts(process.code_repository),
            machine: self.json(process.machine),
            machine_state: self.json(process.machine_state),
            recorder_version: process.recorder_version,
        }
    }

    /// A command line: in `--password x` it is the next argument that is secret.
    pub fn arguments(&self, arguments: Vec<String>) -> Vec<String> {
        let mut before = None;
        let hide = |argument: String| {
            let kind = before.take().filter(|_| !argument.starts_with("--"));
            before = self.option(&argument);
            match kind {
                Some(kind) => format!("[redacted:{kind}]"),
                None => self.text(&argument).into_owned(),
            }
        };
        arguments.into_iter().map(hide).collect()
    }

    /// The kind of secret that follows an argument, if that is an option without its value.
    pub(crate) fn option(&self, argument: &str) -> Option<&'static str> {
        if argument.starts_with('-') && !argument.contains('=') { self.name(argument) } else { None }
    }

    /// JSON with what is secret in it replaced: by the names of its members, by options in its lists, and in its texts.
    pub fn json(&self, value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let hide = |(name, value): (String, Value)| match self.name(&name) {
                    Some(kind) => (name, Value::String(format!("[redacted:{kind}]"))),
                    None => (name, self.json(value)),
                };
                Value::Object(members.into_iter().map(hide).collect())
            }
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let texts = items.into_iter().filter_map(|item| item.as_str().map(str::to_owned)).collect();
                self.arguments(texts).into()
            }
            Value::Array(items) => items.into_iter().map(|item| self.json(item)).collect(),
            other => self.json_texts(other),
        }
    }

    /// JSON with what is secret in its texts replaced.
    fn json_texts(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(|item| self.json_texts(item)).collect(),
            Value::Object(members) => {
                members.into_iter().map(|(name, value)| (name, self.json_texts(value))).collect()
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::redaction::tests::redactor;

    #[test]
    fn what_follows_a_secret_option_is_hidden() {
        let arguments = ["run", "--db-password", "hunter2", "--token=abc", "--api-key", "--verbose", "x"];
        let hidden = redactor().arguments(arguments.map(str::to_owned).to_vec());
        let expected = [
            "run",
            "--db-password",
            "[redacted:password]",
            "--token=[redacted:token]",
            "--api-key",
            "--verbose",
            "x",
        ];
        assert_eq!(hidden, expected);
    }

    #[test]
    fn members_of_json_are_hidden_by_name_and_by_text() {
        let value = json!({"environment": {"DB_PASSWORD": "hunter2", "PATH": "/bin"}, "cmd_line": ["--pin", "1234"],
            "note": ["pwd=x", 1], "secret": {"deep": [1]}});
        let expected = json!({"environment": {"DB_PASSWORD": "[redacted:password]", "PATH": "/bin"},
            "cmd_line": ["--pin", "[redacted:pin]"], "note": ["pwd=[redacted:password]", 1],
            "secret": "[redacted:secret]"});
        assert_eq!(redactor().json(value), expected);
    }
}
