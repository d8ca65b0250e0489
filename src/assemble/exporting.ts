import type { ApiParts } from '../api/request/rows-request.ts'
import { reportLateFailure } from '../api/response/list-reply.ts'
import { type Body, send } from '../api/response/reply.ts'
import { wholeLog } from '../changes/whole-log.ts'
import type { Exporting, ExportToMake, MadeJson } from '../dashboard/dashboard-parts.ts'
import type { Shares } from '../shares/shares.ts'
import { createTurnstile } from '../shares/turnstile.ts'
import type { Soon } from '../soon.ts'

/** Who clicks twice gets both. */
const waitingOfAccount = 4
const patienceMs = 5_000
const mostUnreadMs = 60_000

/** Exports hold a page of a log each while they are read, and nobody pays for one by the request: an account has few at a time. */
export function createExporting(
  parts: Pick<ApiParts, 'changes' | 'turns' | 'clock' | 'observe'>,
  shares: Shares,
): Exporting {
  const { changes, turns, clock, observe } = parts
  const places = createTurnstile({
    share: 'exports_at_once',
    places: Number.POSITIVE_INFINITY,
    placesOfAccount: shares.exports_at_once,
    waitingOfAccount,
    clock,
    observe,
  })
  return {
    async begin(accountId, left, gather) {
      const turn = places.turnOf(accountId)
      await turn.begin(patienceMs, left)
      try {
        return makeExport(accountId, left, await gather(), () => turn.end())
      } catch (error) {
        turn.end()
        throw error
      }
    },
  }

  function makeExport(accountId: string, left: AbortSignal, toMake: ExportToMake, end: () => void): MadeJson {
    return {
      sendTo(response, head, isHead) {
        if (left.aborted || response.destroyed) return leave()
        response.once('close', end)
        left.addEventListener('abort', leave)
        const headers = ['Content-Disposition', `attachment; filename="${toMake.fileName}"`]
        const nextTurn = () => turns.next(accountId)
        const body: Body = {
          chunks: piecesOf(toMake, nextTurn, () => response.destroyed),
          bytes: null,
          holds: [],
          nextTurn,
          mostUnreadMs,
          onFailure: (error) => reportLateFailure(parts, error, 'list_changes'),
        }
        send(response, { status: 200, base: head, headers, body }, isHead, false)

        function leave(): void {
          response.destroy()
          end()
        }
      },
    }
  }

  async function* piecesOf(
    { json, usage, sheets }: ExportToMake,
    nextTurn: () => Soon<void>,
    isLeft: () => boolean,
  ): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${json.trimEnd().slice(0, -1).trimEnd()},\n  "usage": [`)
    yield* listed(usage, '    ')
    yield Buffer.from('],\n  "changes": {')
    for (const [at, { id, slug }] of sheets.entries()) {
      if (isLeft()) return
      yield Buffer.from(`${at === 0 ? '' : ','}\n    ${JSON.stringify(slug)}: [`)
      yield* listed(wholeLog(id, changes, nextTurn), '      ')
      yield Buffer.from(']')
    }
    yield Buffer.from('\n  }\n}\n')
  }
}

/** Texts, or the pieces of a long one. */
async function* listed(
  texts: AsyncIterable<string[] | AsyncIterable<Uint8Array>>,
  indent: string,
): AsyncGenerator<Uint8Array> {
  let separator = `\n${indent}`
  for await (const some of texts) {
    if (!Array.isArray(some)) {
      yield Buffer.from(separator)
      yield* some
    } else if (some.length > 0) yield Buffer.from(separator + some.join(`,\n${indent}`))
    else continue
    separator = `,\n${indent}`
  }
}
