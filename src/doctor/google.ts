import type { GoogleStanding, ServerInspection } from '../assemble/inspection.ts'
import type { Config } from '../config.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** What can be told without asking Google. */
export function examineGoogle(config: Config, standing: GoogleStanding): Finding[] {
  return [examineSettings(config), ...examineStanding(standing)]
}

/** Google refuses the key of a service account that is signed at another time than now, and allows for a few minutes. */
const farApartMs = 60_000

/** Asks Google for nothing but the time: by it a key is good or not, and whoever gives it can be reached. */
export async function examineGoogleClock(
  { google }: Pick<Config, 'google'>,
  inspection: Pick<ServerInspection, 'googleClock'>,
): Promise<Finding> {
  const asked = google.endpoint ?? 'Google'
  const aheadMs = await inspection.googleClock(google).then(
    (clock) => clock.aheadMs,
    () => null,
  )
  if (aheadMs === null) {
    const advice =
      'See that this machine reaches the internet, by a firewall or proxy that lets it. Until then rows come from memory.'
    return wrong('Google', `${asked} cannot be reached from here.`, advice)
  }
  if (Number.isNaN(aheadMs)) return fine('Clock', `${asked} does not say what time it is.`)
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  const says = `The clock of ${asked} is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine's.`
  if (Math.abs(aheadMs) <= farApartMs) return fine('Clock', says)
  const advice = 'Google refuses keys of service accounts by a clock that is wrong: let NTP set this one.'
  return wrong('Clock', says, advice)
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
