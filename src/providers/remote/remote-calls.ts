import { OutcomeUnknown, ProviderFailure } from '../../sheets/provider-failure.ts'
import { pause, type Timers } from '../../timers.ts'
import type { AccessTokens } from './access-tokens.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import { parseJsonBytes } from './json-fields.ts'
import type { RationKind } from './rations/budget.ts'
import {
  callerOf,
  createRemoteExchange,
  type RemoteCall,
  type RemoteExchangeParts,
} from './remote-exchange.ts'
import { isGood, unreadable } from './remote-protocol.ts'
import type { RetryCredit } from './retry-credit.ts'
import { ExchangeLost, type HttpAnswer } from './transport.ts'

/** Calls of a provider's APIs in an owner's name. `Service`: which of its APIs, where it has several. */
export interface RemoteCalls<Service extends string> {
  /** The body of a good answer, still bytes; tried again while that may help. */
  callRead(call: RemoteCall<Service>): Promise<Buffer<ArrayBuffer>>
  /**
   * Parses the answer to a call that is sent once. Throws `OutcomeUnknown` when it may have been done and nobody can say so; any other throw means that
   * the provider did nothing.
   */
  callWrite(call: RemoteCall<Service>, parse?: ParseAnswer): Promise<unknown>
}

/** `undefined` is no JSON at all. For answers that are too long to be parsed in one go. */
export type ParseAnswer = (body: Buffer<ArrayBuffer>) => Promise<unknown>

export interface CallLimits {
  readMs: number
  writeMs: number
  attempts: number
  firstBackoffMs: number
  maxBackoffMs: number
}

/** Three access tokens may be refused: one that was known, one that was found, one that was made. */
const mostRefusals = 2

export const callLimits: CallLimits = {
  readMs: 15_000,
  writeMs: 25_000,
  attempts: 3,
  firstBackoffMs: 250,
  maxBackoffMs: 8_000,
}

export interface RemoteCallsParts<Service extends string> extends RemoteExchangeParts<Service> {
  tokens: AccessTokens
  retryCredit: RetryCredit
  timers: Timers
  random: () => number
  limits: CallLimits
}

export function createRemoteCalls<Service extends string>(
  parts: RemoteCallsParts<Service>,
): RemoteCalls<Service> {
  const { protocol, tokens, retryCredit, clock, timers, limits } = parts
  const { name } = protocol
  const exchange = createRemoteExchange(parts)

  return {
    async callRead(call) {
      retryCredit.noteCall(callerOf(call))
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

    async callWrite(call, parse) {
      const deadline = call.deadline ?? createDeadline(clock, timers, limits.writeMs)
      try {
        const answer = await exchangeAuthorised('write', call, deadline)
        const { status, body } = answer
        if (isGood(status)) {
          const parsed = parse ? await parse(body) : parseJsonBytes(body)
          if (parsed !== undefined) return parsed
        } else if (protocol.isRefusal(answer)) {
          throw protocol.failureOf(answer, call.credentialId)
        }
        throw unknownOutcome(`status ${status}`)
      } catch (error) {
        if (!(error instanceof ExchangeLost)) throw error
        throw error.lost === 'not_sent' ? unreachable(error) : unknownOutcome(error)
      } finally {
        if (!call.deadline) deadline.end()
      }
    },
  }

  /** A failure is returned when it is the provider's: whether it is worth another try is the caller's to say. */
  async function readOnce(
    call: RemoteCall<Service>,
    deadline: Deadline,
  ): Promise<Buffer<ArrayBuffer> | ProviderFailure> {
    try {
      const answer = await exchangeAuthorised('read', call, deadline)
      if (!isGood(answer.status)) return protocol.failureOf(answer, call.credentialId)
      return protocol.isWhole(answer) ? answer.body : unreadable(name)
    } catch (error) {
      if (!(error instanceof ExchangeLost)) throw error
      return error.lost === 'too_large' ? protocol.tooLarge(error) : unreachable(error)
    }
  }

  async function mayTryAgain(
    call: RemoteCall<Service>,
    { facts }: ProviderFailure,
    attempt: number,
    deadline: Deadline,
  ): Promise<boolean> {
    if (!facts.isPassing || attempt >= limits.attempts) return false
    const highestMs = Math.min(limits.maxBackoffMs, limits.firstBackoffMs * 2 ** (attempt - 1))
    const backoffMs = parts.random() * highestMs
    if (backoffMs >= deadline.leftMs() || !retryCredit.spend(callerOf(call))) return false
    await pause(timers, backoffMs, deadline.signal)
    return !deadline.signal.aborted
  }

  /**
   * An access token may have been ended early, and so may the next, where another instance got that before; but one that
   * was made after a refusal and is refused as well is no accident.
   */
  async function exchangeAuthorised(
    kind: RationKind,
    call: RemoteCall<Service>,
    deadline: Deadline,
  ): Promise<HttpAnswer> {
    for (let refusals = 0; ; refusals++) {
      const access = await tokens.accessToken(call.credentialId, deadline)
      const answer = await exchange(kind, call, access, deadline)
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

  function unreachable(cause: ExchangeLost): ProviderFailure {
    const message =
      cause.lost === 'not_sent'
        ? `${name} cannot be reached at the moment`
        : `${name} did not respond in time`
    return new ProviderFailure(message, { isPassing: true, retryAfterSeconds: 5, cause })
  }

  function unknownOutcome(cause: unknown): OutcomeUnknown {
    return new OutcomeUnknown(`${name} did not say whether it was done`, { isPassing: true, cause })
  }
}
