import type { Observe } from '../../../reporting/observe.ts'
import { createRemoteCalls, type RemoteCalls, type RemoteCallsParts } from '../../remote/remote-calls.ts'
import type { RemoteCall } from '../../remote/remote-exchange.ts'
import { isWholeJson, type RemoteProtocol } from '../../remote/remote-protocol.ts'
import type { GoogleScope } from '../oauth/google-consent.ts'
import {
  failureOf,
  isScopeWithdrawn,
  isUnauthenticated,
  rationExceeded,
  readGoogleError,
  tooLarge,
} from './google-errors.ts'
import type { GoogleTime } from './google-time.ts'

export type GoogleService = 'sheets' | 'drive'
export type GoogleCalls = RemoteCalls<GoogleService>
export type GoogleCall = RemoteCall<GoogleService>

export interface GoogleCallsParts
  extends Omit<RemoteCallsParts<GoogleService>, 'protocol' | 'onCalled' | 'onAnswered'> {
  scope: GoogleScope
  observe: Observe
  /** Hears it from every answer. */
  time: Pick<GoogleTime, 'hear'>
}

export function createGoogleCalls({ scope, observe, time, ...parts }: GoogleCallsParts): GoogleCalls {
  return createRemoteCalls({
    ...parts,
    protocol: googleProtocol(scope),
    onCalled: (call) => observe({ event: 'google_called', ...call }),
    onAnswered: ({ headers }, askedAtMs) => time.hear(headers.date, askedAtMs),
  })
}

function googleProtocol(scope: GoogleScope): RemoteProtocol<GoogleService> {
  return {
    name: 'Google',
    // Drive has a ration of its own, too large to be met.
    isRationed: (service) => service === 'sheets',
    isWhole: isWholeJson,
    isUnauthenticated: ({ status, body }) => isUnauthenticated(status, readGoogleError(body)),
    endOfAccess({ status, body }, service) {
      // Drive asks for scopes that a connection need not have.
      const isOver = service === 'sheets' && isScopeWithdrawn(status, readGoogleError(body))
      return isOver ? 'the owner withdrew the access to spreadsheets' : null
    },
    usedUpRation: ({ status, body }) => rationExceeded(status, readGoogleError(body)),
    isRefusal: ({ status, body }) => status < 500 && readGoogleError(body) !== null,
    failureOf: ({ status, body }) => failureOf(status, readGoogleError(body), scope),
    tooLarge,
  }
}
