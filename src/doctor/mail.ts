import type { ServerInspection } from '../assemble/inspection.ts'
import type { Config } from '../config.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** Signs in at the mail server, and sends nothing. */
export async function examineMail(
  { mail, baseUrl, isBaseUrlSet }: Config,
  inspection: Pick<ServerInspection, 'mail'>,
): Promise<Finding> {
  if (!mail) return fine('Mail', 'Not set up; nobody is sent any email.')
  const server = `${mail.host}:${mail.port}`
  const problem = await inspection.mail(mail)
  if (problem !== null) {
    return wrong(
      'Mail',
      `No mail can be sent by ${server}: ${problem}.`,
      'See that SMTP_URL names the server, its port, and a user and password that it takes. Mails wait for up to a day.',
    )
  }
  if (!isBaseUrlSet) {
    const says = `Links in mails begin with ${baseUrl}, which leads nowhere for people on other machines.`
    return wrong('Mail', says, 'Set BASE_URL to the URL that people use.')
  }
  return fine('Mail', `${server} takes mail from ${mail.from}.`)
}
