/** What the wires answer by themselves: a head that is no head, an application that is not there. */
import { isNavigation } from '../shared/enforcement/navigation.ts'
import type { Exchange, OwnAnswer } from './exchange.ts'
import { plainAnswer } from './http1/answer.ts'
import type { Http1ServerOptions } from './http1/server.ts'
import { PAGE_HEADER_LINES, pageHtml } from '../shared/sign-in/pages.ts'

type WireAnswers = Required<Pick<Http1ServerOptions, 'refusalAnswer' | 'failureAnswer'>>

export function createWireAnswers(nextRequestId: () => string): WireAnswers {
  return {
    refusalAnswer: (refusal) => plainAnswer(refusal, [`X-Request-Id: ${nextRequestId()}`]),
    failureAnswer(failure, exchange): OwnAnswer {
      const lines = [`X-Request-Id: ${requestIdOf(exchange) ?? nextRequestId()}`]
      if (!isNavigation(exchange.head)) return plainAnswer(failure, lines)
      const page = {
        title: 'The application does not answer',
        text: 'You are still signed in. Try again in a moment.',
        code: failure.code,
        action: { href: '', label: 'Try again' }, // this very address
      }
      const headerLines = [...PAGE_HEADER_LINES, ...lines]
      return { status: failure.status, headerLines, body: pageHtml(page) }
    },
  }
}

function requestIdOf({ context }: Exchange): string | undefined {
  return (context as { readonly requestId?: string } | undefined)?.requestId
}
