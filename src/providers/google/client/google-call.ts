import type { Clock } from '../../../clock.ts'
import type { Observe } from '../../../reporting/observe.ts'
import { OutcomeUnknown, ProviderFailure } from '../../../sheets/provider-failure.ts'
import { pause, type Timers } from '../../../timers.ts'
import type { GoogleBreaker } from '../../remote/breaker.ts'
import { createDeadline, type Deadline } from '../../remote/deadline.ts'
import { parsedJson } from '../../remote/json-fields.ts'
import type { RetryCredit } from '../../remote/retry-credit.ts'
import { type Answer, ExchangeLost, type Transport } from '../../remote/transport.ts'
import type { Access, GoogleTokens } from '../oauth/access-tokens.ts'
import type { GoogleScope } from '../oauth/google-consent.ts'
import type { GoogleBudget } from './google-budget.ts'
import {
  failureOf,
  isScopeWithdrawn,
  isUnauthenticated,
  rationExceeded,
  readGoogleError,
  tooLarge,
  unreadable,
} from './google-errors.ts'
import type { GoogleTime } from './google-time.ts'

/** Calls of Google's APIs in an owner's name. */
export interface GoogleCalls {
  /** The body of a good answer, still bytes; tried again while that may help. */
  callRead(call: GoogleCall): Promise<Buffer<ArrayBuffer>>
  /**
   * Sent once. Throws `OutcomeUnknown` when it may have been done and nobody can say so; any other throw means that
   * Google did nothing.
   */
  callWrite(call: GoogleCall): Promise<unknown>
}

export interface GoogleCall {
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
  /** Drive has a ration of its own, too large to be met. */
  service: 'sheets' | 'drive'
  /** Before others that wait for the same ration. */
  isUrgent?: boolean
  /** Where several calls serve one wait, they share its end. */
  deadline?: Deadline
  /** Called when an answer begins to come, also for each further try; what it returns is told the body by pieces. */
  onBody?(): (piece: Uint8Array) => void
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

export interface CallParts {
  transport: Transport
  tokens: GoogleTokens
  /** Hears it from every answer. */
  time: Pick<GoogleTime, 'hear'>
  budget: GoogleBudget
  breaker: GoogleBreaker
  retryCredit: RetryCredit
  scope: GoogleScope
  clock: Clock
  timers: Timers
  observe: Observe
  random: () => number
  limits: CallLimits
}

type Kind = 'read' | 'write'

export function createGoogleCalls(parts: CallParts): GoogleCalls {
  const { transport, tokens, time, budget, breaker, retryCredit, scope, clock, timers, observe, limits } =
    parts

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
        const { status, body } = await authorised('write', call, deadline)
        const parsed = parsedJson(body)
        if (isGood(status) && parsed !== undefined) return parsed
        const error = readGoogleError(body)
        if (isGood(status) || status >= 500 || error === null) throw unknownOutcome(`status ${status}`)
        throw failureOf(status, error, scope)
      } catch (error) {
        if (!(error instanceof ExchangeLost)) throw error
        throw error.lost === 'not_sent' ? unreachable(error) : unknownOutcome(error)
      } finally {
        deadline.end()
      }
    },
  }

  /** A failure is returned when it is Google's: whether it is worth another try is the caller's to say. */
  async function readOnce(
    call: GoogleCall,
    deadline: Deadline,
  ): Promise<Buffer<ArrayBuffer> | ProviderFailure> {
    try {
      const { status, headers, body } = await authorised('read', call, deadline)
      if (!isGood(status)) return failureOf(status, readGoogleError(body), scope)
      return isWholeJson(headers, body) ? body : unreadable()
    } catch (error) {
      if (!(error instanceof ExchangeLost)) throw error
      return error.lost === 'too_large' ? tooLarge(error) : unreachable(error)
    }
  }

  async function mayTryAgain(
    { credentialId }: GoogleCall,
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
  async function authorised(kind: Kind, call: GoogleCall, deadline: Deadline): Promise<Answer> {
    for (let refusals = 0; ; refusals++) {
      const access = await tokens.accessToken(call.credentialId, deadline)
      const answer = await rationed(kind, call, access, deadline)
      const error = isGood(answer.status) ? null : readGoogleError(answer.body)
      // Drive asks for scopes that a connection need not have.
      if (call.service === 'sheets' && isScopeWithdrawn(answer.status, error)) {
        throw await tokens.expire(access, 'the owner withdrew the access to spreadsheets')
      }
      if (!isUnauthenticated(answer.status, error)) return answer
      const isNew = refusals > 0 && !access.isFound
      if (isNew || refusals >= mostRefusals)
        throw await tokens.expire(access, 'Google refuses the access token')
      tokens.forget(access)
    }
  }

  async function rationed(kind: Kind, call: GoogleCall, access: Access, deadline: Deadline): Promise<Answer> {
    const { subject, credentialId } = access
    let pass = breaker.enter(credentialId)
    const place =
      call.service === 'drive'
        ? null
        : await budget
            .take({ subject, kind, isUrgent: call.isUrgent ?? kind === 'write', deadline })
            .catch((error: unknown) => {
              pass.leave('untold')
              throw error
            })
    let { body } = call
    if (call.compose) {
      // Whoever composes asks Google as well, and must not find the breaker held by us.
      pass.leave('untold')
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
      pass.leave(isRation ? 'untold' : isAnswered(answer) ? 'well' : 'failed')
      return answer
    } catch (error) {
      const lost = error instanceof ExchangeLost ? error.lost : 'no_answer'
      place?.giveBack(lost === 'not_sent' ? 'not_sent' : 'no_answer')
      pass.leave(lost === 'too_large' ? 'well' : 'failed')
      throw error
    }
  }

  function noteRation(kind: Kind, { service }: GoogleCall, subject: string, answer: Answer): boolean {
    const { status, headers, body } = answer
    if (isGood(status)) {
      if (service === 'sheets') budget.acceptedByGoogle({ subject, kind })
      return false
    }
    const per = rationExceeded(status, readGoogleError(body))
    const retryAfterMs = Number(headers['retry-after'] ?? 0) * 1_000 || 0
    if (per && service === 'sheets') budget.refusedByGoogle({ subject, kind, per, retryAfterMs })
    return per !== null
  }

  async function sent(kind: Kind, call: GoogleCall, access: Access, { signal }: Deadline): Promise<Answer> {
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
      // Not from whoever else may answer in Google's place.
      if (isAnswered(answer)) time.hear(answer.headers.date, begunMs)
      return answer
    } finally {
      const durationMs = clock.elapsedMs() - begunMs
      observe({ event: 'google_called', service, kind, status, durationMs })
    }
  }
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300
}

/** Google itself spoke, whatever it said. */
function isAnswered({ status, headers, body }: Answer): boolean {
  return status < 500 && isWholeJson(headers, body)
}

const spaces = [0x20, 0x0a, 0x0d, 0x09]
const openBrace = 0x7b
const closeBrace = 0x7d

/** A look at both ends, which costs nothing: half an answer and HTML are worth another try. */
function isWholeJson(headers: Answer['headers'], body: Buffer): boolean {
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return false
  const first = body.findIndex((byte) => !spaces.includes(byte))
  const last = body.findLastIndex((byte) => !spaces.includes(byte))
  return body[first] === openBrace && body[last] === closeBrace
}

function unreachable(cause: ExchangeLost): ProviderFailure {
  const message =
    cause.lost === 'not_sent' ? 'Google cannot be reached at the moment' : 'Google did not answer in time'
  return new ProviderFailure(message, { isPassing: true, retryAfterSeconds: 5, cause })
}

function unknownOutcome(cause: unknown): OutcomeUnknown {
  return new OutcomeUnknown('Google did not say whether it was done', { isPassing: true, cause })
}
