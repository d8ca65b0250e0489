import type { Site } from './site.ts'

/** On everything that the dashboard answers (docs/reliability.md#headers-of-the-dashboard). */
export function safetyHeaders({ isSecure }: Site): Record<string, string> {
  return {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // Not `no-referrer`, which would take `Origin` away from our own pages.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    ...(isSecure && { 'Strict-Transport-Security': 'max-age=31536000' }),
  }
}

/** `consentOrigins`: browsers hold `form-action` also against the redirect that answers a form. */
export function contentPolicy(consentOrigins: readonly string[]): string {
  const formAction = ["'self'", ...consentOrigins].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
