/// The machine's behavior on a live link: silence, and the end of the link.
extension ConnectionMachine {
    /// The time without a frame after which the machine acts.
    var quietLimit: Duration? {
        if case .leave(let quiet, _) = description.presence { return quiet }
        guard let expected = description.expectedInterval, !subscribed.isDisjoint(with: description.allSubscriptions) else {
            return nil
        }
        let timeout = max(expected * 3, limits.silence)
        return min(timeout * Int(1 << min(silence.rounds, 8)), max(limits.maximumSilence, timeout))
    }

    mutating func frame(_ now: Duration) -> [Command] {
        lastFrame = now
        silence = Silence()
        hadGoodSession = true
        reportedNotices.remove(.silent)
        if state == .live { deadline = quietLimit.map { now + $0 } }
        return [.observe(.worked)]
    }

    /// ATT limits the time of each request, not of a whole step (Core specification, vol 3, part F, 3.3.3).
    mutating func progress(_ step: Step, _ now: Duration) -> [Command] {
        guard state == .working(step), deadline != nil else { return [] }
        deadline = now + limits.step
        return notifyIfSlow(now)
    }

    /// Reports a slow device, so that users can find out why no data arrives.
    mutating func notifyIfSlow(_ now: Duration) -> [Command] {
        guard let asksSince, now - asksSince > limits.timeout else { return [] }
        return notify(.slow)
    }

    mutating func tick(_ now: Duration) -> [Command] {
        guard let due = deadline, now >= due else { return [] }
        deadline = nil
        switch state {
        case .waiting:
            state = .idle
            return wasSeen(now) ? queue() : []
        case .connecting: return fail(.noAnswer, now)
        case .resolving: return notify(.notResolved) + fail(.other, now)
        case .working(let step):
            // Either a pause before a repetition is over, or the step got no answer.
            if steps.first == step { return next(now) }
            giveUpAccompaniment()
            return fail(.noAnswer, now)
        case .live: return quiet(now)
        case .leaving:
            // The Disconnect had no effect on Connected, so repeat it.
            deadline = now + limits.step
            return [.disconnect]
        case .stopped, .idle, .queued, .blocked: return []
        }
    }

    /// Handles silence with the next measure (stories 5, 6). The strongest one is to end the link. An idle device is not a reason to
    /// restart anything that other devices use (story 12).
    mutating func quiet(_ now: Duration) -> [Command] {
        if case .leave = description.presence {
            state = .leaving
            deadline = now + limits.step
            return [.disconnect]
        }
        if silence.tier == 0 {
            silence.tier = 1
            let names = subscribed.intersection(description.allSubscriptions).sorted()
            steps = names.flatMap { [.unsubscribe($0), .subscribe($0)] }
            return [.observe(.silent(.subscription))] + next(now)
        }
        silence.tier = 0
        silence.rounds += 1
        let notice = silence.rounds >= 3 ? notify(.silent) : []
        return notice + [.observe(.silent(.link))] + leave(after: limits.pause, now)
    }

    mutating func linkLost(_ now: Duration) -> [Command] {
        switch state {
        case .leaving:
            guard case .leave(_, let rest) = description.presence else { return wait(limits.pause, now) }
            return wait(rest, now)
        case .connecting, .resolving, .working:
            failures += 1
            return wait(backOff(), now)
        case .blocked(.moved): return wait(limits.pause, now)
        case .live:
            if case .leave(_, let rest) = description.presence { return wait(rest, now) }
            return wait(limits.pause, now)
        case .stopped, .idle, .waiting, .queued, .blocked: return []
        }
    }
}
