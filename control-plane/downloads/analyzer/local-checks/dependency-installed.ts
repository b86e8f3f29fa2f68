import { skip } from '../../../../shared/integration/check-result.ts'
import type { LocalCheck } from './looked-at.ts'

export const dependencyInstalled: LocalCheck = async () =>
  skip('dependency_installed', 'This check does not look yet.')
