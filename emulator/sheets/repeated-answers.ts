import type { Spreadsheet } from './model.ts'

/** Parameters that do not change what is answered, only how. */
const ignored = ['prettyPrint', 'access_token', 'key', 'alt', 'quotaUser', '$.xgafv']
const mostAnswers = 8

/** A spreadsheet is replaced by each change, so its own object stands for its revision. */
const answers = new WeakMap<Spreadsheet, Map<string, unknown>>()

/** The same question about the same revision gets the same object, which is then encoded only once. */
export function answerOnce(
  spreadsheet: Spreadsheet,
  question: { name: string; target: string; query: URLSearchParams; body: unknown; user: string },
  answer: () => unknown,
): unknown {
  const query = [...question.query].filter(([name]) => !ignored.includes(name))
  // What is protected is told to each in another way.
  const { name, target, body, user } = question
  const key = JSON.stringify([name, target, query, body ?? null, user])
  const known = answers.get(spreadsheet) ?? new Map<string, unknown>()
  answers.set(spreadsheet, known)
  if (known.has(key)) return known.get(key)
  const fresh = answer()
  const [oldest] = known.keys()
  if (known.size >= mostAnswers && oldest !== undefined) known.delete(oldest)
  known.set(key, fresh)
  return fresh
}
