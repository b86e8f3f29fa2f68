/** Every command, in the order in which they are needed. What is not named here does not exist. */
import type { Command } from './commands/command.ts'
import { complete } from './commands/complete.ts'
import { goBack } from './commands/go-back.ts'
import { goLive } from './commands/go-live.ts'
import { login } from './commands/login.ts'
import { logout } from './commands/logout.ts'
import { probe } from './commands/probe.ts'

export const COMMANDS: readonly Command[] = [probe, goLive, goBack, complete, login, logout]
