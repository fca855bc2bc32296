//! A page as one HTML file: no script, nothing from elsewhere, light and dark as the reader likes, and on paper.

use std::fmt::Write;

use super::document::{Block, Document, is_of_numbers};
use crate::plot::{STYLE, escape};

/// Forbids even by mistake what the page has no need of.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const PAGE_STYLE: &str = "
*{box-sizing:border-box}
html{color-scheme:light dark;background:var(--paper);color:var(--ink)}
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;max-width:64rem;margin:0 auto;padding:1.5rem}
h1{font-size:1.7rem;margin:.2rem 0 1rem}h2{font-size:1.25rem;margin:2.2rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--faint)}
h3{font-size:1.02rem;margin:1.5rem 0 .4rem}p{margin:.5rem 0}
.status{font-size:.8rem;font-weight:600;vertical-align:middle;margin-left:.6rem;padding:.15rem .6rem;border-radius:1rem;color:var(--on-s);background:var(--s7)}
.status.FINISHED{background:var(--s2)}.status.ERROR,.status.INTERRUPTED{background:var(--bad)}.status.RUNNING{background:var(--s0)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.5rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto;margin:.6rem 0}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;width:100%}
th{color:var(--soft);font-weight:600;text-align:left;white-space:nowrap}th,td{padding:.28rem 1rem .28rem 0;border-bottom:1px solid var(--faint);vertical-align:top}
td{overflow-wrap:anywhere}td.k{white-space:nowrap}th.n,td.n{text-align:right;white-space:nowrap}
pre{background:var(--wash);border:1px solid var(--faint);border-radius:6px;padding:.7rem .9rem;overflow-x:auto;font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
figure{margin:.8rem 0}svg{width:100%;height:auto;display:block}svg text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.9rem}a{color:var(--s0)}
footer{margin-top:2.5rem;color:var(--soft);font-size:.85rem}
@media print{body{max-width:none;padding:0;font-size:11px}.status,.status[class]{background:none;color:var(--ink);border:1px solid var(--ink)}nav{display:none}h2,h3{break-after:avoid}figure,tr,dl{break-inside:avoid}.wide,pre{overflow:visible}pre{white-space:pre-wrap}}
";

impl Document {
    /// The page as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        let (title, status) = (escape(&self.title), escape(&self.status));
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
            <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
            <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
            <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{STYLE}{PAGE_STYLE}</style>\n</head>\n\
            <body>\n<header>\n<h1>{title}<span class=\"status {status}\">{status}</span></h1>\n"
        );
        text.push_str(&self.contents());
        text.push_str("</header>\n<main>\n");
        self.blocks.iter().enumerate().for_each(|(number, block)| write_block(&mut text, number, block));
        let _ = write!(text, "</main>\n<footer><p>{}</p></footer>\n</body>\n</html>\n", escape(&self.footer));
        text
    }

    fn contents(&self) -> String {
        let link = |(number, block): (usize, &Block)| match block {
            Block::Heading(2, name) => Some(format!("<a href=\"#part-{number}\">{}</a>\n", escape(name))),
            _ => None,
        };
        let links: String = self.blocks.iter().enumerate().filter_map(link).collect();
        format!("<nav aria-label=\"Parts of this page\">\n{links}</nav>\n")
    }
}

fn write_block(text: &mut String, number: usize, block: &Block) {
    let _ = match block {
        Block::Heading(level, name) => {
            writeln!(text, "<h{level} id=\"part-{number}\">{}</h{level}>", escape(name))
        }
        Block::Paragraph(words) => writeln!(text, "<p>{}</p>", escape(words)),
        Block::List(items) => {
            let items: Vec<String> =
                items.iter().map(|item| format!("<li>{}</li>\n", escape(item))).collect();
            write!(text, "<ul>\n{}</ul>\n", items.concat())
        }
        Block::Fields(fields) => {
            let line = |(name, value): &(String, String)| {
                format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), lines(value))
            };
            let fields: String = fields.iter().map(line).collect();
            write!(text, "<dl>\n{fields}</dl>\n")
        }
        Block::Table(columns, rows) => write!(text, "{}", table(columns, rows)),
        Block::Preformatted(words) => writeln!(text, "<pre tabindex=\"0\">{}</pre>", escape(words)),
        Block::Picture(plot) => write!(text, "<figure>\n{}</figure>\n", plot.inline()),
    };
}

fn table(columns: &[String], rows: &[Vec<String>]) -> String {
    let of_numbers: Vec<bool> = (0..columns.len()).map(|column| is_of_numbers(rows, column)).collect();
    let name = |(column, name): (usize, &String)| {
        let class = if of_numbers[column] { " class=\"n\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", escape(name))
    };
    let header: String = columns.iter().enumerate().map(name).collect();
    // Long words may break, numbers with their units and short ones may not.
    let class = |column: usize, cell: &str| match (column, cell.chars().count()) {
        (column, _) if of_numbers[column] => " class=\"n\"",
        (0, ..=40) | (_, ..=24) => " class=\"k\"",
        _ => "",
    };
    let cell = |(column, cell): (usize, &String)| format!("<td{}>{}</td>", class(column, cell), lines(cell));
    let row =
        |row: &Vec<String>| format!("<tr>{}</tr>\n", row.iter().enumerate().map(cell).collect::<String>());
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>\n<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn lines(text: &str) -> String {
    escape(text).replace('\n', "<br>")
}
