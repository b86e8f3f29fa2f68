/** Whether a form is one of ours, and of a page that this very person was shown. */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { ApiContext } from '../http/context.ts'
import { readBytes } from '../http/body.ts'
import { isFromOwnPage } from '../http/form.ts'
import type { Viewer } from '../console-access/console-sessions.ts'
import type { ConsoleWorld } from './world.ts'
import { readUpload } from './upload.ts'
import { CSRF_FIELD, FORM_ID_FIELD, readSentForm, type SentForm } from './form-values.ts'
import type { Declaration } from './route.ts'

export function refuseForeignForm(c: ApiContext, baseUrl: string) {
  if (!isFromOwnPage(c.req.header(), new URL(baseUrl).origin)) throw new Refusal('cross_site_form')
}

/** A browser says so. A form of nobody knows where is not shown to be sent with one more click. */
export function isSurelyOwn(c: ApiContext, baseUrl: string): boolean {
  const isOwnOrigin = c.req.header('origin') === new URL(baseUrl).origin
  return isOwnOrigin || c.req.header('sec-fetch-site') === 'same-origin'
}

export async function readForm(
  c: ApiContext,
  shape: Declaration['form'] & object,
  viewer: Viewer | undefined,
): Promise<SentForm> {
  const mediaType = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  const takesFile = Object.hasOwn(shape, 'file') || Object.values(shape).includes('picture')
  const isUpload = mediaType === 'multipart/form-data' && takesFile
  if (mediaType !== 'application/x-www-form-urlencoded' && !isUpload)
    throw new Refusal('media_type_unsupported', {}, 'Send the form as a form.')
  const isStranger = viewer === undefined
  const most = isStranger ? LIMITS.consoleStrangersFormBytesMax : LIMITS.consoleFormBytesMax
  const bytes = await readBytes(c, most)
  return isUpload
    ? readUpload(bytes, c.req.header('content-type') ?? '', shape)
    : readSentForm(Buffer.from(bytes).toString('utf8'), shape)
}

export const FORGED = Symbol('no form of a page that this person was shown lately')

/** Before anybody has signed in there is nothing to forge; what they send proves itself. */
export function proveForm(
  { values }: SentForm,
  viewer: Viewer | undefined,
  { consoleAccess: { proofs } }: ConsoleWorld,
): string | undefined | typeof FORGED {
  if (viewer === undefined) return undefined
  const { userId } = viewer
  const formId = values.get(FORM_ID_FIELD) ?? ''
  const isOurs =
    proofs.isCsrf(userId, values.get(CSRF_FIELD) ?? '') && proofs.isFormId(userId, formId)
  return isOurs ? formId : FORGED
}
