import { heldBytes, piecesOf, type TextPart } from '../../changes/long-text.ts'
import type { Taker } from '../../shares/taker.ts'
import type { ApiParts } from '../request/rows-request.ts'
import { reportLateFailure } from './list-reply.ts'
import type { Body } from './reply.ts'

/** Changes of which some are in the store: told from there while they are sent, so that no more than a piece of one is in memory. */
export function longTextsBody(
  texts: readonly TextPart[],
  taker: Taker,
  parts: Pick<ApiParts, 'turns' | 'observe'>,
): Body {
  const nextTurn = () => parts.turns.next(taker)
  return {
    chunks: piecesOf(texts, nextTurn),
    bytes: null,
    // So that slow readers of many such answers are counted.
    holds: [Buffer.allocUnsafeSlow(heldBytes)],
    nextTurn,
    onFailure: (error) => reportLateFailure(parts, error, 'list_changes'),
  }
}
