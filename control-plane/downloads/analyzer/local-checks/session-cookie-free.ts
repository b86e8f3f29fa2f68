import { skip } from '../../../../shared/integration/check-result.ts'
import type { LocalCheck } from './looked-at.ts'

export const sessionCookieFree: LocalCheck = async () =>
  skip('session_cookie_free', 'This check does not look yet.')
