import { skip } from '../../../../shared/integration/check-result.ts'
import type { LocalCheck } from './looked-at.ts'

export const healthPath: LocalCheck = async () =>
  skip('health_path', 'This check does not look yet.')
