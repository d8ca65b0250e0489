import type { GoogleStanding } from '../assemble/inspection.ts'
import type { Config } from '../config.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** Looks at what can be told without asking Google. */
export function examineGoogle(config: Config, standing: GoogleStanding): Finding[] {
  return [examineSettings(config), ...examineStanding(standing)]
}

/** A line for each thing that is not done there; where nothing was ever tried, nothing is said against it. */
function examineStanding({ off, triedAtMs }: GoogleStanding): Finding[] {
  if (off.length > 0)
    return off.map(({ what, why, whatHelps }) => wrong('Google', `${sentence(what)}. ${why}`, whatHelps))
  if (triedAtMs === null) return []
  const day = new Date(triedAtMs).toISOString().slice(0, 10)
  return [fine('Google', `It kept what our promises rest on when that was last tried, on ${day}.`)]
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function examineSettings({ google, baseUrl }: Config): Finding {
  const { client, endpoint, scope } = google
  if (endpoint !== null) return fine('Google', `All calls go to ${endpoint} instead of Google.`)
  if (!client) {
    const byLink = google.apiKey === null ? '' : ' or read by their public link'
    return fine('Google', `Spreadsheets are connected by service accounts${byLink}; consent is not set up.`)
  }
  const { clientId } = client
  if (!clientId.endsWith('.apps.googleusercontent.com')) {
    const says = 'GOOGLE_CLIENT_ID does not look like one: it ends with .apps.googleusercontent.com.'
    return wrong(
      'Google',
      says,
      'Copy it from the Google Cloud console; docs/google-setup.md says where it stands.',
    )
  }
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol !== 'https:' && hostname !== 'localhost' && hostname !== '127.0.0.1') {
    const says = `Google sends owners back to https URLs only, and BASE_URL is ${baseUrl}.`
    return wrong('Google', says, 'Set BASE_URL to the https URL that people use.')
  }
  return fine(
    'Google',
    `Set up with the scope ${scope}; Google must know ${baseUrl}/connect/google/callback.`,
  )
}
