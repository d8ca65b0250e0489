import { examine } from '../doctor/doctor.ts'
import type { BareCommand } from './command.ts'

const columnWidth = 15
const lineWidth = 100

export const doctorCommand: BareCommand = {
  words: ['doctor'],
  usage: 'doctor',
  positionals: [],
  options: [],
  async runBare(env) {
    const findings = await examine(env)
    const problems = findings.filter(({ advice }) => advice !== null)
    const counted = problems.length === 1 ? 'One problem' : `${problems.length} problems`
    return {
      hasFailed: problems.length > 0,
      json: {
        ok: problems.length === 0,
        checks: findings.map(({ check, says, advice }) => ({
          check,
          status: advice === null ? 'ok' : 'problem',
          says,
          advice,
        })),
      },
      text: [
        ...findings.flatMap(({ check, says, advice }) => [
          ...block(advice === null ? '  ok       ' : '  PROBLEM  ', check, says),
          ...(advice === null ? [] : block('           ', '', `What to do: ${advice}`)),
        ]),
        '',
        problems.length === 0 ? 'Nothing is wrong.' : `${counted} found.`,
      ].join('\n'),
    }
  },
}

/** Broken between words, each line under the first. */
function block(mark: string, check: string, says: string): string[] {
  const indent = ' '.repeat(mark.length + columnWidth)
  const lines: string[] = []
  let line = mark + check.padEnd(columnWidth)
  let isEmpty = true
  for (const word of says.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > lineWidth) {
      lines.push(line)
      line = indent
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}
