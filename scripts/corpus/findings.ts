/** What a run over a folder of spreadsheets has found. */
export interface Findings {
  files: number
  /** Files and tabs that were refused, by the words for their owner. */
  refused: Map<string, number>
  /** Neither rows nor a refusal came of them: defects, each with its file. */
  crashes: string[]
  cellsRead: number
  cellsCompared: number
  /** By class. */
  disagreements: Map<string, number>
  /** The first of each class, to look at. */
  examples: Map<string, string>
  editsTried: number
  editsMade: number
  editsRefused: Map<string, number>
  /** Made, and then something else was another, or the file could not be read: each with its file. */
  damaged: string[]
  /** Cells as displayed, by the kind of their format. */
  displayed: Map<string, { agree: number; compared: number }>
  slowest: { file: string; ms: number }
  peakMegabytes: number
  /** What cells were compared with. */
  references: Set<string>
}

export function noFindings(): Findings {
  return {
    files: 0,
    refused: new Map(),
    crashes: [],
    cellsRead: 0,
    cellsCompared: 0,
    disagreements: new Map(),
    examples: new Map(),
    editsTried: 0,
    editsMade: 0,
    editsRefused: new Map(),
    damaged: [],
    displayed: new Map(),
    slowest: { file: '', ms: 0 },
    peakMegabytes: 0,
    references: new Set(),
  }
}

export function count(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

export function disagree(findings: Findings, kind: string, example: string): void {
  count(findings.disagreements, kind)
  if (!findings.examples.has(kind)) findings.examples.set(kind, example)
}

export function displayedAs(findings: Findings, kind: string, isSame: boolean): void {
  const known = findings.displayed.get(kind) ?? { agree: 0, compared: 0 }
  findings.displayed.set(kind, {
    agree: known.agree + (isSame ? 1 : 0),
    compared: known.compared + 1,
  })
}

const number = (value: number): string => value.toLocaleString('en')

export function findingsTable(findings: Findings): string {
  const { disagreements, editsRefused, refused, displayed, slowest } = findings
  const lines = [
    '| | |',
    '|---|---|',
    `| Files | ${number(findings.files)} |`,
    `| Refused, with the reason | ${number(total(refused))} |`,
    `| Crashed | ${findings.crashes.length} |`,
    `| Cells read | ${number(findings.cellsRead)} |`,
    `| Cells compared (${[...findings.references].sort().join(', ') || 'with nothing'}) | ${number(findings.cellsCompared)} |`,
    `| Disagreements | ${number(total(disagreements))} |`,
    `| Edits tried | ${number(findings.editsTried)} |`,
    `| Edits made | ${number(findings.editsMade)} |`,
    `| Edits refused, with the reason | ${number(total(editsRefused))} |`,
    `| Edits that damaged something | ${findings.damaged.length} |`,
    `| Slowest file | ${slowest.file} (${number(Math.round(slowest.ms))} ms) |`,
    `| Peak memory | ${number(findings.peakMegabytes)} MB |`,
  ]
  const shown = [...displayed].sort(([one], [other]) => (one < other ? -1 : 1))
  if (shown.length > 0) {
    lines.push('', '| values=formatted | Agree | |', '|---|---|---|')
    for (const [kind, { agree, compared }] of shown) {
      lines.push(
        `| ${kind} | ${number(agree)} / ${number(compared)} | ${((agree / compared) * 100).toFixed(1)} % |`,
      )
    }
  }
  for (const [title, counts] of [
    ['Disagreements', disagreements],
    ['Refused', refused],
    ['Edits refused', editsRefused],
  ] as const) {
    if (counts.size === 0) continue
    lines.push('', `| ${title} | |`, '|---|---|')
    for (const [what, times] of [...counts].sort(([, one], [, other]) => other - one)) {
      const example = title === 'Disagreements' ? `; first: ${findings.examples.get(what)}` : ''
      lines.push(`| ${what} | ${number(times)}${example} |`)
    }
  }
  for (const what of [...findings.crashes, ...findings.damaged]) lines.push('', `Defect: ${what}`)
  return lines.join('\n')
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, times) => sum + times, 0)
}
