/** What the wires answer by themselves: a head that is no head, an application that is not there. */
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import type { OwnAnswer } from '../wire/exchange.ts'
import { plainAnswer } from '../wire/answer.ts'
import type { Http1ServerOptions } from '../http1/world.ts'
import { PAGE_HEADER_LINES, pageHtml } from '../../shared/sign-in/pages.ts'

type ProtocolAnswers = Required<Pick<Http1ServerOptions, 'refusalAnswer' | 'failureAnswer'>>

export function createProtocolAnswers(nextRequestId: () => string): ProtocolAnswers {
  return {
    refusalAnswer: (refusal) => plainAnswer(refusal, [`X-Request-Id: ${nextRequestId()}`]),
    failureAnswer(failure, exchange): OwnAnswer {
      // What was to be forwarded has its lines, the id of the request among them.
      if (!isNavigation(exchange.head)) return plainAnswer(failure)
      const page = {
        title: 'The application does not answer',
        text: 'You are still signed in. Try again in a moment.',
        code: failure.code,
        action: { href: '', label: 'Try again' }, // this very address
      }
      return { status: failure.status, headerLines: PAGE_HEADER_LINES, body: pageHtml(page) }
    },
  }
}
