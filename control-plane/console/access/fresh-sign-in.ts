/** Some changes ask who is there: within five minutes of a sign-in they are taken as theirs. */
import { LIMITS } from '../../../shared/limits.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { notice } from '../../pages/blocks/notice.ts'
import type { Html } from '../../pages/html.ts'
import type { ViewerVisit } from '../route.ts'
import { signInAddress } from './return-address.ts'

export const isFreshSignIn = (
  { signedInAtMs }: Pick<ViewerVisit['viewer'], 'signedInAtMs'>,
  nowMs: number,
): boolean => nowMs - signedInAtMs <= LIMITS.consoleFreshMs

/** Above a form of a page that may be read without: nobody types first and is refused then. */
export function freshSignInNotice({
  viewer,
  nowMs,
  address,
  proofs,
}: Pick<ViewerVisit, 'viewer' | 'nowMs' | 'address' | 'proofs'>): Html | string {
  if (proofs.isReadOnly || isFreshSignIn(viewer, nowMs)) return ''
  return notice(
    'info',
    'To make changes on this page, sign in again first.',
    linkButton(signInAddress(address, true), 'Sign in again', 'quiet'),
  )
}
