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
  /** The first of each class, to look at, from different files. */
  examples: Map<string, { file: string; text: string }[]>
  editsTried: number
  editsMade: number
  editsRefused: Map<string, number>
  /** Made, and then something else was another, or the file could not be read: each with its file. */
  damaged: string[]
  /** CSV columns that hold numbers and texts which spell numbers. */
  mixedColumns: number
  /** Such texts, by what keeps them from being numbers. */
  numbersAsText: Map<string, number>
  /** Cells as displayed, by whom they were held against and the kind of their format. */
  displayed: Map<string, Map<string, { agree: number; compared: number }>>
  /** Those that another program displays otherwise for a known reason, with Excel on our side, by whom and why. They are not among the others. */
  displayedOtherwise: Map<string, number>
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
    mixedColumns: 0,
    numbersAsText: new Map(),
    displayed: new Map(),
    displayedOtherwise: new Map(),
    slowest: { file: '', ms: 0 },
    peakMegabytes: 0,
    references: new Set(),
  }
}

export function count(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

export function disagree(findings: Findings, kind: string, file: string, what: string): void {
  count(findings.disagreements, kind)
  keepExample(findings, kind, file, what)
}

/** `difference` is empty where a cell is as it should be. */
export function displayedAs(
  findings: Findings,
  reference: string,
  kind: string,
  file: string,
  difference: string,
  knownReason?: string,
): void {
  if (knownReason !== undefined) {
    count(findings.displayedOtherwise, `${reference}: ${knownReason}`)
    keepExample(findings, `${reference}: ${knownReason}`, file, difference)
    return
  }
  const byKind = findings.displayed.get(reference) ?? new Map()
  findings.displayed.set(reference, byKind)
  const known = byKind.get(kind) ?? { agree: 0, compared: 0 }
  byKind.set(kind, {
    agree: known.agree + (difference === '' ? 1 : 0),
    compared: known.compared + 1,
  })
  if (difference !== '') keepExample(findings, `${reference}, ${kind}`, file, difference)
}

const maxExamples = 6
const maxExampleLength = 300

function keepExample(findings: Findings, kind: string, file: string, what: string): void {
  const kept = findings.examples.get(kind) ?? []
  if (kept.length === maxExamples || kept.some((example) => example.file === file)) return
  findings.examples.set(kind, [...kept, { file, text: `${file} ${what}`.slice(0, maxExampleLength) }])
}

export function examplesOf(findings: Findings, kind: string): string {
  return (findings.examples.get(kind) ?? []).map(({ text }) => text.replaceAll(/[\r\n|]/g, ' ')).join('<br>')
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
    `| CSV columns with numbers and texts that spell numbers | ${number(findings.mixedColumns)} |`,
    `| Slowest file | ${slowest.file} (${number(Math.round(slowest.ms))} ms) |`,
    `| Peak memory | ${number(findings.peakMegabytes)} MB |`,
  ]
  for (const [reference, byKind] of displayed) {
    lines.push('', `| values=formatted (${reference}) | Agree | | Others |`, '|---|---|---|---|')
    for (const [kind, { agree, compared }] of [...byKind].sort(([one], [other]) => (one < other ? -1 : 1))) {
      lines.push(
        `| ${kind} | ${number(agree)} / ${number(compared)} | ${((agree / compared) * 100).toFixed(1)} % | ${examplesOf(findings, `${reference}, ${kind}`)} |`,
      )
    }
  }
  for (const [title, counts] of [
    ['Disagreements', disagreements],
    ['Displayed otherwise, with Excel on our side', findings.displayedOtherwise],
    ['Numbers in CSV files that stay text', findings.numbersAsText],
    ['Refused', refused],
    ['Edits refused', editsRefused],
  ] as const) {
    if (counts.size === 0) continue
    lines.push('', `| ${title} | |`, '|---|---|')
    for (const [what, times] of [...counts].sort(([, one], [, other]) => other - one)) {
      const hasExamples =
        title !== 'Edits refused' && title !== 'Refused' && examplesOf(findings, what) !== ''
      const examples = hasExamples ? `<br>${examplesOf(findings, what)}` : ''
      lines.push(`| ${what} | ${number(times)}${examples} |`)
    }
  }
  for (const what of [...findings.crashes, ...findings.damaged]) lines.push('', `Defect: ${what}`)
  return lines.join('\n')
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, times) => sum + times, 0)
}
