/** Every command, in the order in which they are needed. What is not named here does not exist. */
import { analyze } from './commands/analyze.ts'
import { apply } from './commands/apply.ts'
import type { Command } from './commands/command.ts'
import { complete } from './commands/complete.ts'
import { doctor } from './commands/doctor.ts'
import { goBack, goLive } from './commands/go-live.ts'
import { login } from './commands/login.ts'
import { logout } from './commands/logout.ts'
import { probe } from './commands/probe.ts'
import { setup } from './commands/setup.ts'
import { status } from './commands/status.ts'
import { undo } from './commands/undo.ts'
import { verify } from './commands/verify.ts'

export const COMMANDS: readonly Command[] = [
  setup,
  analyze,
  apply,
  undo,
  verify,
  probe,
  goLive,
  goBack,
  complete,
  status,
  login,
  logout,
  doctor,
]
