import type { FrameworkSnippet } from './snippet.ts'

export const PHP: Readonly<Record<string, FrameworkSnippet>> = {}
