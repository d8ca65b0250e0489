import type { Clock } from '../../clock.ts'
import { OutcomeUnknown, ProviderFailure } from '../../sheets/provider-failure.ts'
import { pause, type Timers } from '../../timers.ts'
import type { Access, AccessTokens } from './access-tokens.ts'
import type { Breaker } from './breaker.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import { parsedJson } from './json-fields.ts'
import type { Budget } from './rations/budget.ts'
import type { RetryCredit } from './retry-credit.ts'
import { ExchangeLost, type HttpAnswer, type Transport } from './transport.ts'

/** Calls of a provider's APIs in an owner's name. `Service`: which of its APIs, where it has several. */
export interface RemoteCalls<Service extends string> {
  /** The body of a good answer, still bytes; tried again while that may help. */
  callRead(call: RemoteCall<Service>): Promise<Buffer<ArrayBuffer>>
  /**
   * Sent once. Throws `OutcomeUnknown` when it may have been done and nobody can say so; any other throw means that
   * the provider did nothing.
   */
  callWrite(call: RemoteCall<Service>): Promise<unknown>
}

export interface RemoteCall<Service extends string> {
  credentialId: string | null
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
  /** Before others that wait for the same ration. */
  isUrgent?: boolean
  /** Where several calls serve one wait, they share its end. */
  deadline?: Deadline
  /** Called when an answer begins to come, also for each further try; what it returns is told the body by pieces. */
  onBody?(): (piece: Uint8Array) => void
}

/** How one provider says what any of them may say. */
export interface RemoteProtocol<Service extends string> {
  /** What people call the provider. */
  name: string
  /** Whether calls of this service count against the budget. */
  isRationed(service: Service): boolean
  /** The provider itself spoke, and to its end: half an answer and the page of a proxy are worth another try. */
  isWhole(answer: HttpAnswer): boolean
  /** The access token is not taken, though its time is not over. */
  isUnauthenticated(answer: HttpAnswer): boolean
  /** Why the owner's access has ended, for the log; null when it has not, or not for that which this service is for. */
  endOfAccess(answer: HttpAnswer, service: Service): string | null
  /** Whose ration the provider says is used up; null when it is something else. */
  usedUpRation(answer: HttpAnswer): 'user' | 'project' | null
  /** Of an answer that is not good: it is certain that nothing was done. */
  isRefusal(answer: HttpAnswer): boolean
  /** An answer that is not what was asked for, in words for the owner. */
  failureOf(answer: HttpAnswer): ProviderFailure
  tooLarge(cause: unknown): ProviderFailure
}

export interface CallLimits {
  readMs: number
  writeMs: number
  attempts: number
  firstBackoffMs: number
  maxBackoffMs: number
}

/** Of one that was known, one that was found, one that was made. */
const mostRefusals = 2

export const callLimits: CallLimits = {
  readMs: 15_000,
  writeMs: 25_000,
  attempts: 3,
  firstBackoffMs: 250,
  maxBackoffMs: 8_000,
}

type Kind = 'read' | 'write'

/** One exchange that has ended. */
export interface EndedCall<Service extends string> {
  service: Service
  kind: Kind
  /** null when no answer came. */
  status: number | null
  durationMs: number
}

export interface RemoteCallsParts<Service extends string> {
  protocol: RemoteProtocol<Service>
  transport: Transport
  tokens: AccessTokens
  budget: Budget
  breaker: Breaker
  retryCredit: RetryCredit
  clock: Clock
  timers: Timers
  random: () => number
  limits: CallLimits
  /** Called for the report. */
  onCalled(call: EndedCall<Service>): void
  /** Called with every answer that the provider itself gave; `askedAtMs`: when the question left, by our own clock. */
  onAnswered?(answer: HttpAnswer, askedAtMs: number): void
}

export function createRemoteCalls<Service extends string>(
  parts: RemoteCallsParts<Service>,
): RemoteCalls<Service> {
  const { protocol, transport, tokens, budget, breaker, retryCredit, clock, timers, limits } = parts
  const { name } = protocol

  return {
    async callRead(call) {
      retryCredit.noteCall(call.credentialId ?? '')
      const deadline = call.deadline ?? createDeadline(clock, timers, limits.readMs)
      try {
        for (let attempt = 1; ; attempt++) {
          const outcome = await readOnce(call, deadline)
          if (!(outcome instanceof ProviderFailure)) return outcome
          if (!(await mayTryAgain(call, outcome, attempt, deadline))) throw outcome
        }
      } finally {
        if (!call.deadline) deadline.end()
      }
    },

    async callWrite(call) {
      const deadline = createDeadline(clock, timers, limits.writeMs)
      try {
        const answer = await authorised('write', call, deadline)
        const { status, body } = answer
        if (isGood(status)) {
          const parsed = parsedJson(body)
          if (parsed !== undefined) return parsed
        } else if (protocol.isRefusal(answer)) {
          throw protocol.failureOf(answer)
        }
        throw unknownOutcome(`status ${status}`)
      } catch (error) {
        if (!(error instanceof ExchangeLost)) throw error
        throw error.lost === 'not_sent' ? unreachable(error) : unknownOutcome(error)
      } finally {
        deadline.end()
      }
    },
  }

  /** A failure is returned when it is the provider's: whether it is worth another try is the caller's to say. */
  async function readOnce(
    call: RemoteCall<Service>,
    deadline: Deadline,
  ): Promise<Buffer<ArrayBuffer> | ProviderFailure> {
    try {
      const answer = await authorised('read', call, deadline)
      if (!isGood(answer.status)) return protocol.failureOf(answer)
      return protocol.isWhole(answer) ? answer.body : unreadable(name)
    } catch (error) {
      if (!(error instanceof ExchangeLost)) throw error
      return error.lost === 'too_large' ? protocol.tooLarge(error) : unreachable(error)
    }
  }

  async function mayTryAgain(
    { credentialId }: RemoteCall<Service>,
    { facts }: ProviderFailure,
    attempt: number,
    deadline: Deadline,
  ): Promise<boolean> {
    if (!facts.isPassing || attempt >= limits.attempts) return false
    const highestMs = Math.min(limits.maxBackoffMs, limits.firstBackoffMs * 2 ** (attempt - 1))
    const backoffMs = parts.random() * highestMs
    if (backoffMs >= deadline.leftMs() || !retryCredit.spend(credentialId ?? '')) return false
    await pause(timers, backoffMs, deadline.signal)
    return !deadline.signal.aborted
  }

  /**
   * An access token may have been ended early, and so may the next, where another instance got that before; but one that
   * was made after a refusal and is refused as well is no accident.
   */
  async function authorised(kind: Kind, call: RemoteCall<Service>, deadline: Deadline): Promise<HttpAnswer> {
    for (let refusals = 0; ; refusals++) {
      const access = await tokens.accessToken(call.credentialId, deadline)
      const answer = await rationed(kind, call, access, deadline)
      if (isGood(answer.status)) return answer
      const ended = protocol.endOfAccess(answer, call.service)
      if (ended !== null) throw await tokens.expire(access, ended)
      if (!protocol.isUnauthenticated(answer)) return answer
      const isNew = refusals > 0 && !access.isFound
      if (isNew || refusals >= mostRefusals)
        throw await tokens.expire(access, `${name} refuses the access token`)
      tokens.forget(access)
    }
  }

  async function rationed(
    kind: Kind,
    call: RemoteCall<Service>,
    access: Access,
    deadline: Deadline,
  ): Promise<HttpAnswer> {
    const { subject, credentialId } = access
    let pass = breaker.enter(credentialId)
    const place = protocol.isRationed(call.service)
      ? await budget
          .take({ subject, kind, isUrgent: call.isUrgent ?? kind === 'write', deadline })
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
        pass = breaker.enter(credentialId)
      } catch (error) {
        place?.giveBack('not_sent')
        throw error
      }
    }
    try {
      const answer = await sent(kind, { ...call, body }, access, deadline)
      // First: when a call on trial gives its place back, the next one may be let through.
      const isRation = noteRation(kind, call, subject, answer)
      place?.giveBack('answered')
      pass.recordOutcome(isRation ? 'untold' : isAnswered(answer) ? 'well' : 'failed')
      return answer
    } catch (error) {
      const lost = error instanceof ExchangeLost ? error.lost : 'no_answer'
      place?.giveBack(lost === 'not_sent' ? 'not_sent' : 'no_answer')
      pass.recordOutcome(lost === 'too_large' ? 'well' : 'failed')
      throw error
    }
  }

  function noteRation(
    kind: Kind,
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

  async function sent(
    kind: Kind,
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
          Authorization: `Bearer ${access.token}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(onPiece ? { onPiece } : {}),
      })
      status = answer.status
      // Not from whoever else may answer in the provider's place.
      if (isAnswered(answer)) parts.onAnswered?.(answer, begunMs)
      return answer
    } finally {
      parts.onCalled({ service, kind, status, durationMs: clock.elapsedMs() - begunMs })
    }
  }

  /** The provider itself spoke, whatever it said. */
  function isAnswered(answer: HttpAnswer): boolean {
    return answer.status < 500 && protocol.isWhole(answer)
  }

  function unreachable(cause: ExchangeLost): ProviderFailure {
    const message =
      cause.lost === 'not_sent' ? `${name} cannot be reached at the moment` : `${name} did not answer in time`
    return new ProviderFailure(message, { isPassing: true, retryAfterSeconds: 5, cause })
  }

  function unknownOutcome(cause: unknown): OutcomeUnknown {
    return new OutcomeUnknown(`${name} did not say whether it was done`, { isPassing: true, cause })
  }
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300
}

export function unreadable(name: string): ProviderFailure {
  return new ProviderFailure(`${name}'s answer could not be read`, { isPassing: true, retryAfterSeconds: 5 })
}

const spaces = [0x20, 0x0a, 0x0d, 0x09]
const openBrace = 0x7b
const closeBrace = 0x7d

/** A look at both ends of what should be an object, which costs nothing: for `isWhole` of those who speak JSON. */
export function isWholeJson({ headers, body }: HttpAnswer): boolean {
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return false
  const first = body.findIndex((byte) => !spaces.includes(byte))
  const last = body.findLastIndex((byte) => !spaces.includes(byte))
  return body[first] === openBrace && body[last] === closeBrace
}
