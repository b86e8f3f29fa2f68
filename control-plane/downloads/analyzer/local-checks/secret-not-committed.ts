import { skip } from '../../../../shared/integration/check-result.ts'
import type { LocalCheck } from './looked-at.ts'

export const secretNotCommitted: LocalCheck = async () =>
  skip('secret_not_committed', 'This check does not look yet.')
