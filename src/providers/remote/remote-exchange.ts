import type { Clock } from '../../clock.ts'
import { TooManyAtOnce } from '../../errors.ts'
import type { Access } from './access-tokens.ts'
import type { Breaker } from './breaker.ts'
import type { Deadline } from './deadline.ts'
import type { Budget, RationKind } from './rations/budget.ts'
import { isAnswered, isGood, type RemoteProtocol } from './remote-protocol.ts'
import { ExchangeLost, type HttpAnswer, type Transport } from './transport.ts'

export interface RemoteCall<Service extends string> {
  credentialId: string | null
  /** For whom it is. Many accounts may be served without a credential, and none of them may hurt another. */
  accountId?: string | undefined
  method: 'GET' | 'POST'
  url: string
  /** Sent as JSON. */
  body?: unknown
  /**
   * Makes the body when the ration has a place for it and nothing is left to wait for: for a write that looks at
   * the sheet first, and for a read that needs room for what will come. When it throws, nothing was sent.
   */
  compose?(): Promise<unknown>
  service: Service
  /** Goes before others that wait for the same ration. */
  isUrgent?: boolean
  /** Where several calls serve one wait, they share its end. */
  deadline?: Deadline
  /** Called when an answer begins to come, also for each further try; what it returns is told the body by pieces. */
  onBody?(): (piece: Uint8Array) => void | Promise<void>
}

/** Who answers for what fails: a credential, and where there is none the account that asks without one. */
export function callerOf({
  credentialId,
  accountId = '',
}: Pick<RemoteCall<never>, 'credentialId' | 'accountId'>) {
  return credentialId ?? accountId
}

/** One exchange that has ended. */
export interface EndedCall<Service extends string> {
  service: Service
  kind: RationKind
  /** null when no answer came. */
  status: number | null
  durationMs: number
}

/** One question and its answer, past the breaker and in its turn at the ration. Throws `ExchangeLost` without an answer. */
export type RemoteExchange<Service extends string> = (
  kind: RationKind,
  call: RemoteCall<Service>,
  access: Access,
  deadline: Deadline,
) => Promise<HttpAnswer>

export interface RemoteExchangeParts<Service extends string> {
  protocol: RemoteProtocol<Service>
  transport: Transport
  budget: Budget
  breaker: Breaker
  clock: Clock
  /** Called for the report. */
  onCalled(call: EndedCall<Service>): void
  /** Called with every answer that the provider itself gave; `askedAtMs`: when the question left, by our own clock. */
  onAnswered?(answer: HttpAnswer, askedAtMs: number): void
}

export function createRemoteExchange<Service extends string>(
  parts: RemoteExchangeParts<Service>,
): RemoteExchange<Service> {
  const { protocol, transport, budget, breaker, clock } = parts

  return async (kind, call, access, deadline) => {
    const { subject } = access
    const caller = callerOf(call)
    let pass = breaker.enter(caller)
    const place = protocol.isRationed(call.service)
      ? await budget
          .take({
            subject,
            kind,
            isUrgent: goesFirst(kind, call),
            accountId: call.accountId ?? caller,
            deadline,
          })
          .catch((error: unknown) => {
            pass.recordOutcome('untold')
            throw error
          })
      : null
    let { body } = call
    if (call.compose) {
      // Whoever composes asks the provider as well, and must not find the breaker held by us.
      pass.recordOutcome('untold')
      try {
        body = await call.compose()
        pass = breaker.enter(caller)
      } catch (error) {
        place?.endCall('not_sent')
        throw error
      }
    }
    try {
      const answer = await send(kind, { ...call, body }, access, deadline)
      // First: when a call on trial gives its place back, the next one may be let through.
      const isRation = noteRation(kind, call, subject, answer)
      place?.endCall('answered')
      pass.recordOutcome(isRation ? 'untold' : isAnswered(answer, protocol) ? 'well' : 'failed')
      return answer
    } catch (error) {
      const lost = error instanceof ExchangeLost ? error.lost : 'no_answer'
      place?.endCall(lost === 'not_sent' ? 'not_sent' : 'no_answer')
      const isOurs = lost === 'too_large' || error instanceof TooManyAtOnce
      pass.recordOutcome(isOurs ? 'well' : 'failed')
      throw error
    }
  }

  function goesFirst(
    kind: RationKind,
    { credentialId, isUrgent = kind === 'write' }: RemoteCall<Service>,
  ): boolean {
    // Without a credential nothing is written, so nobody waits for a write; but whoever tries one must not go before all others.
    return isUrgent && credentialId !== null
  }

  function noteRation(
    kind: RationKind,
    { service }: RemoteCall<Service>,
    subject: string,
    answer: HttpAnswer,
  ): boolean {
    const isCounted = protocol.isRationed(service)
    if (isGood(answer.status)) {
      if (isCounted) budget.noteAcceptance({ subject, kind })
      return false
    }
    const per = protocol.usedUpRation(answer)
    const retryAfterMs = Number(answer.headers['retry-after'] ?? 0) * 1_000 || 0
    if (per && isCounted) budget.noteRefusal({ subject, kind, per, retryAfterMs })
    return per !== null
  }

  async function send(
    kind: RationKind,
    call: RemoteCall<Service>,
    access: Access,
    { signal }: Deadline,
  ): Promise<HttpAnswer> {
    const { method, url, body, onBody, service } = call
    const begunMs = clock.elapsedMs()
    let status: number | null = null
    try {
      const onPiece = onBody?.()
      const answer = await transport.exchange({
        method,
        url,
        headers: {
          ...(protocol.authorisation?.(access) ?? { Authorization: `Bearer ${access.token}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(onPiece ? { onPiece } : {}),
      })
      status = answer.status
      // Not from whoever else may answer in the provider's place.
      if (isAnswered(answer, protocol)) parts.onAnswered?.(answer, begunMs)
      return answer
    } finally {
      parts.onCalled({ service, kind, status, durationMs: clock.elapsedMs() - begunMs })
    }
  }
}
