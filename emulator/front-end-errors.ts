/** The bodies of Google's front end, which answers before a service is asked. Wording: docs/google.md#the-front-end. */
export type Service = 'sheets' | 'drive'

const hostOf: Record<Service, string> = { sheets: 'sheets.googleapis.com', drive: 'drive.googleapis.com' }
const nameOf: Record<Service, string> = { sheets: 'Google Sheets API', drive: 'Google Drive API' }

export interface GoogleErrorBody {
  error: {
    code: number
    message: string
    errors?: unknown[]
    status?: string
    details?: unknown[]
  }
}

export function googleError(
  code: number,
  status: string,
  message: string,
  details?: unknown[],
): GoogleErrorBody {
  return { error: { code, message, status, ...(details ? { details } : {}) } }
}

function errorInfo(reason: string, metadata: Record<string, string>): Record<string, unknown> {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com', metadata }
}

function help(description: string, url: string): Record<string, unknown> {
  return { '@type': 'type.googleapis.com/google.rpc.Help', links: [{ description, url }] }
}

/** Drive speaks the older dialect: `errors` for every client, not only for those that ask. */
function inDialectOf(
  service: Service,
  body: GoogleErrorBody,
  legacy: Record<string, string>,
): GoogleErrorBody {
  if (service === 'sheets') return body
  const { code, message, ...rest } = body.error
  return { error: { code, message, errors: [legacy], ...rest } }
}

export function unauthenticated(service: Service, method: string, expired: boolean): GoogleErrorBody {
  const body = googleError(
    401,
    'UNAUTHENTICATED',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
    expired ? [errorInfo('ACCESS_TOKEN_EXPIRED', { service: hostOf[service], method })] : undefined,
  )
  return inDialectOf(service, body, {
    message: 'Invalid Credentials',
    domain: 'global',
    reason: 'authError',
    location: 'Authorization',
    locationType: 'header',
  })
}

export function unregisteredCaller(service: Service): GoogleErrorBody {
  const message =
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."
  return inDialectOf(service, googleError(403, 'PERMISSION_DENIED', message), {
    message,
    domain: 'global',
    reason: 'forbidden',
  })
}

/** A key names a project and nobody in it. */
export function keyAssertsNobody(service: Service, method: string): GoogleErrorBody {
  const message =
    'API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials that assert a principal. See https://cloud.google.com/docs/authentication'
  return googleError(401, 'UNAUTHENTICATED', message, [
    errorInfo('CREDENTIALS_MISSING', { service: hostOf[service], method }),
  ])
}

export function apiKeyInvalid(service: Service): GoogleErrorBody {
  const message = 'API key not valid. Please pass a valid API key.'
  return googleError(400, 'INVALID_ARGUMENT', message, [
    errorInfo('API_KEY_INVALID', { service: hostOf[service] }),
    { '@type': 'type.googleapis.com/google.rpc.LocalizedMessage', locale: 'en-US', message },
  ])
}

export function insufficientScopes(service: Service, method: string): GoogleErrorBody {
  const body = googleError(403, 'PERMISSION_DENIED', 'Request had insufficient authentication scopes.', [
    errorInfo('ACCESS_TOKEN_SCOPE_INSUFFICIENT', { service: hostOf[service], method }),
  ])
  return inDialectOf(service, body, {
    message: 'Insufficient Permission',
    domain: 'global',
    reason: 'insufficientPermissions',
  })
}

export function serviceDisabled(service: Service, projectNumber: string): GoogleErrorBody {
  const url = `https://console.developers.google.com/apis/api/${hostOf[service]}/overview?project=${projectNumber}`
  const message = `${nameOf[service]} has not been used in project ${projectNumber} before or it is disabled. Enable it by visiting ${url} then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.`
  const body = googleError(403, 'PERMISSION_DENIED', message, [
    errorInfo('SERVICE_DISABLED', {
      service: hostOf[service],
      serviceTitle: nameOf[service],
      containerInfo: projectNumber,
      consumer: `projects/${projectNumber}`,
      activationUrl: url,
    }),
    { '@type': 'type.googleapis.com/google.rpc.LocalizedMessage', locale: 'en-US', message },
    help('Google developers console API activation', url),
  ])
  return inDialectOf(service, body, { message, domain: 'usageLimits', reason: 'accessNotConfigured' })
}

export interface ExhaustedQuota {
  kind: 'read' | 'write'
  per: 'user' | 'project'
  limit: number
  projectNumber: string
}

export function quotaExceeded({ kind, per, limit, projectNumber }: ExhaustedQuota): GoogleErrorBody {
  const Kind = kind === 'read' ? 'Read' : 'Write'
  const message = `Quota exceeded for quota metric '${Kind} requests' and limit '${Kind} requests per minute${per === 'user' ? ' per user' : ''}' of service 'sheets.googleapis.com' for consumer 'project_number:${projectNumber}'.`
  return googleError(429, 'RESOURCE_EXHAUSTED', message, [
    errorInfo('RATE_LIMIT_EXCEEDED', {
      service: 'sheets.googleapis.com',
      quota_metric: `sheets.googleapis.com/${kind}_requests`,
      quota_limit: `${Kind}RequestsPerMinutePer${per === 'user' ? 'User' : 'Project'}`,
      quota_limit_value: String(limit),
      quota_location: 'global',
      quota_unit: per === 'user' ? '1/min/{project}/{user}' : '1/min/{project}',
      consumer: `projects/${projectNumber}`,
    }),
    help('Request a higher quota limit.', 'https://cloud.google.com/docs/quotas/help/request_increase'),
  ])
}

export function driveRateLimited(): GoogleErrorBody {
  const message = 'User Rate Limit Exceeded'
  return {
    error: {
      code: 403,
      message,
      errors: [{ message, domain: 'usageLimits', reason: 'userRateLimitExceeded' }],
    },
  }
}

export const internalError: GoogleErrorBody = googleError(500, 'INTERNAL', 'Internal error encountered.')
export const unavailable: GoogleErrorBody = googleError(
  503,
  'UNAVAILABLE',
  'The service is currently unavailable.',
)

export function badJsonPayload(): GoogleErrorBody {
  return googleError(
    400,
    'INVALID_ARGUMENT',
    'Invalid JSON payload received. Unexpected end of string. Expected a value.',
  )
}

const legacyReasons: Record<number, string> = {
  400: 'badRequest',
  401: 'authError',
  403: 'forbidden',
  404: 'notFound',
  429: 'rateLimitExceeded',
  500: 'backendError',
  503: 'backendError',
}

/** Clients that announce themselves as `gdcl/…`, or ask by `$.xgafv=1`, see the legacy `errors` as well. */
export function withLegacyErrors(body: unknown): unknown {
  if (!isGoogleError(body) || body.error.errors) return body
  const { code, message, ...rest } = body.error
  const scopes = message === 'Request had insufficient authentication scopes.'
  const reason = scopes ? 'insufficientPermissions' : (legacyReasons[code] ?? 'badRequest')
  return { error: { code, message, errors: [{ message, domain: 'global', reason }], ...rest } }
}

function isGoogleError(body: unknown): body is GoogleErrorBody {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false
  const { error } = body
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error
}
