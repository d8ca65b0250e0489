import type { Sealing } from '../../secrets/sealing.ts'
import type { FormRecord } from '../../store/forms/forms.ts'
import type { SealedSecret } from '../../store/sealed-secret.ts'
import type { Store } from '../../store/store.ts'

/** Whose secret it is, is part of the seal. */
type Owner = Pick<FormRecord, 'id' | 'accountId'>

export function sealCaptchaSecret(
  sealing: Pick<Sealing, 'seal' | 'keyId'>,
  secret: string,
  owner: Owner,
): SealedSecret {
  return { sealed: sealing.seal(secret, identityOf(owner)), keyId: sealing.keyId }
}

/** null where there is none, or no known key opens it. */
export function openCaptchaSecret(
  sealing: Pick<Sealing, 'open'>,
  form: Owner & Pick<FormRecord, 'captchaSecret'>,
): string | null {
  const { captchaSecret } = form
  return captchaSecret && sealing.open(captchaSecret.sealed, captchaSecret.keyId, identityOf(form))
}

/** As it is done with credentials: what a former secret sealed, and nothing else. */
export async function resealForms(
  store: Pick<Store, 'formsNotUnderKey' | 'resealForm'>,
  sealing: Sealing,
): Promise<void> {
  for (const form of await store.formsNotUnderKey(sealing.keyId)) {
    if (!form.captchaSecret || !sealing.isFormer(form.captchaSecret.keyId)) continue
    const secret = openCaptchaSecret(sealing, form)
    if (secret !== null) await store.resealForm(form, sealCaptchaSecret(sealing, secret, form))
  }
}

function identityOf({ id, accountId }: Owner): string {
  return `captcha secret of ${id} of ${accountId}`
}
