import HealthAnswers
import HealthModel

/// The drawing of a card: the last seven days, and today apart from them, since it is not over.
///
/// Its places are in percent, so that one drawing fits every width and its texts keep their size.
struct StatDrawing {
    let today: TypeToday
    /// The daily goal in the canonical unit.
    let goal: Double?
    let call: PageCall

    /// The pixels between which values are drawn, and the place of the letters below.
    private static let (top, bottom, letters) = (8.0, 66.0, 84)

    var html: HTML {
        let type = today.type
        if !today.diastolicWeek.isEmpty { return pressures }
        guard type.kind == .quantity, today.week.count > 1 else { return "" }
        return type.aggregation == .cumulative ? bars : line
    }

    private func frame(_ label: String, _ content: HTML) -> HTML {
        "<svg class=\"small\" role=\"img\" aria-label=\"\(label)\">\(content)</svg>"
    }

    /// The letters of the weekdays. Today is the last.
    private func weekdays(_ count: Int) -> [String] {
        let days = CalendarIntervals(.day, zone: call.zone)
        let last = days.index(of: call.now)
        return (last - count + 1...last).map { String(call.texts("weekday.\(days.weekday(of: $0) + 1)").prefix(1)) }
    }

    private func letters(_ count: Int, at place: (Int) -> Double) -> HTML {
        let texts: [HTML] = weekdays(count).enumerated().map { index, letter in
            let isToday: HTML = index == count - 1 ? " class=\"on\"" : ""
            return
                "<text\(isToday) x=\"\(Coordinate.hundredths(place(index)))%\" y=\"\(Self.letters)\" text-anchor=\"middle\">\(letter)</text>"
        }
        return "\(texts)"
    }

    private func text(_ value: Double, hasUnit: Bool = true) -> String {
        let (number, unit) = call.values.amount(value, of: today.type)
        return hasUnit ? CardFacts.joined(number, unit) : number
    }

    // MARK: Sums

    private var bars: HTML {
        let (values, count) = (today.week, today.week.count)
        let maximum = max(values.compactMap { $0 }.max() ?? 0, goal ?? 0, today.soFar?.typical?.median ?? 0)
        guard maximum > 0, values.dropLast().contains(where: { $0 != nil }) || values.last != nil else { return "" }
        let (slot, width) = (91.2 / Double(count), 8.6)
        func x(_ index: Int) -> Double { index == count - 1 ? 91.2 : Double(index) * slot }
        func y(_ value: Double) -> Double { Self.bottom - max(0, value) / maximum * (Self.bottom - Self.top) }
        func bar(_ kind: String, _ index: Int, from: Double, to: Double) -> HTML {
            """
            <rect class="bar \(kind)" x="\(Coordinate.hundredths(x(index)))%" width="\(Coordinate.hundredths(width))%" \
            y="\(Coordinate.tenths(y(to)))" height="\(Coordinate.tenths(max(1, y(from) - y(to))))" rx="3"/>
            """
        }
        let past: [HTML] = values.dropLast().enumerated().compactMap { index, value in
            value.flatMap { $0 > 0 ? bar("past", index, from: 0, to: $0) : nil }
        }
        let now = values.last.flatMap { $0 } ?? 0
        let rest: HTML = goal.map { $0 > now ? bar("rest", count - 1, from: 0, to: $0) : "" } ?? ""
        let own: HTML = now > 0 ? bar("now", count - 1, from: 0, to: now) : ""
        let mark: HTML =
            today.soFar?.typical.map { line("mark", from: 90.2, to: 100.8, at: y($0.median)) } ?? ""
        let limit: HTML = goal.map { line("goal", from: 0, to: 100, at: y($0)) } ?? ""
        return frame(
            label(values.dropLast().compactMap { $0 }) + (goal.map { ". " + call.texts("goals.goal") + ": " + text($0) } ?? ""),
            "\(line("zero", from: 0, to: 100, at: Self.bottom))\(past)\(rest)\(own)\(letters(count) { x($0) + width / 2 })\(mark)\(limit)"
        )
    }

    private func line(_ kind: String, from: Double, to: Double, at y: Double) -> HTML {
        """
        <line class="\(kind)" x1="\(Coordinate.hundredths(from))%" x2="\(Coordinate.hundredths(to))%" y1="\(Coordinate.tenths(y))" \
        y2="\(Coordinate.tenths(y))"/>
        """
    }

    /// The text alternative with the lowest and the highest value.
    private func label(_ values: [Double], _ key: String = "card.days") -> String {
        guard let low = values.min(), let high = values.max() else { return call.texts("card.noDays") }
        return call.texts(key, text(low, hasUnit: false), text(high))
    }

    // MARK: Values

    /// The least height of the scale, so that noise does not look like a change.
    private var leastSpan: Double {
        switch today.type.id {
        case "bodyMass", "leanBodyMass": 2
        case "bodyTemperature", "basalBodyTemperature": 1.5
        case "heartRate", "restingHeartRate", "walkingHeartRateAverage": 12
        case "bloodGlucose": 60
        case "oxygenSaturation": 0.06
        default: (today.week.compactMap { $0 }.map(abs).max() ?? 0) * 0.05
        }
    }

    /// A line of finished days, and the latest value as a dot.
    private var line: HTML {
        // A measurement of the body is compared with its like over a month.
        let isMonth = today.alike.compactMap { $0 }.count > 4
        let values = isMonth ? today.alike : today.week
        let days = CalendarIntervals(.day, zone: call.zone)
        let isToday = days.index(of: today.latest.sample.start) == days.index(of: call.now)
        let latest = isToday ? (isMonth ? values.last.flatMap { $0 } : today.latest.sample.value) : nil
        let known = values.dropLast().compactMap { $0 }
        guard var low = (known + [latest].compactMap { $0 }).min(), var high = (known + [latest].compactMap { $0 }).max(),
            !known.isEmpty
        else { return "" }
        let missing = leastSpan - (high - low)
        if missing > 0 { (low, high) = (low - missing / 2, high + missing / 2) }
        if high <= low { high = low + 1 }
        // The names of the levels are at the left.
        func share(_ index: Int) -> Double { 0.22 + (Double(index) + 0.5) / Double(values.count) * 0.78 }
        func x(_ index: Int) -> Double { share(index) * 1000 }
        // The inner drawing is as high as the outer one, 88 pixels.
        func y(_ value: Double) -> Double {
            (Self.bottom - 6 - (value - low) / (high - low) * (Self.bottom - 6 - Self.top)) / 88 * 1000
        }
        var (path, dots, isOpen) = ("", "", false)
        var last = -10
        for (index, value) in values.dropLast().enumerated() {
            guard let value else { continue }
            let point = "\(Coordinate.tenths(x(index))) \(Coordinate.tenths(y(value)))"
            // Measurements of the body are not made each day.
            isOpen = index - last <= (isMonth ? 4 : 1)
            path += (isOpen ? "L" : "M") + point
            if values.count < 10 || !isOpen { dots += "M\(point)h0" }
            last = index
        }
        let now: HTML =
            latest.map { value in
                let point = "M\(Coordinate.tenths(x(values.count - 1))) \(Coordinate.tenths(y(value)))h0"
                return "<path class=\"dt ring\" d=\"\(point)\"/><path class=\"dt big\" d=\"\(point)\"/>"
            } ?? ""
        // Round levels in the unit of the page. Both scales are linear.
        let conversion = try? call.values.conversion(of: today.type, to: call.values.unit(of: today.type))
        let ends = [low, high].map { conversion?($0) ?? $0 }
        let round = LinePlot.levels(ends[0], ends[1])
        let levels: [HTML] = [round.first, round.count > 1 ? round.last : nil].compactMap { level in
            level.map { level in
                let place = y(low + (level - ends[0]) / (ends[1] - ends[0]) * (high - low)) * 0.088
                return
                    "\(line("grid", from: 0, to: 100, at: place))<text x=\"0\" y=\"\(Coordinate.tenths(place - 3))\">\(PageValues.text(level))</text>"
            }
        }
        let below: HTML =
            isMonth
            ? """
            <text x="22%" y="\(Self.letters)">\(call.times.day(days.start(of: days.index(of: call.now) - values.count + 1)))</text>\
            <text class="on" x="100%" y="\(Self.letters)" text-anchor="end">\(call.texts("nav.today"))</text>
            """ : letters(values.count) { share($0) * 100 }
        return frame(
            label(known, isMonth ? "card.monthDays" : "card.days"),
            """
            \(levels)<svg viewBox="0 0 1000 1000" width="100%" height="88" preserveAspectRatio="none" overflow="visible">\
            <path class="ln" d="\(path)"/><path class="dt" d="\(dots)"/>\(now)</svg>\(below)
            """)
    }

    // MARK: Blood pressure

    private func pressure(_ value: Double) -> String {
        let (number, unit) = call.values.amount(value, of: .bloodPressureSystolic)
        return CardFacts.joined(number, unit)
    }

    /// A stem from the diastolic to the systolic average of each finished day, and the latest measurement.
    private var pressures: HTML {
        let count = today.week.count
        var days = zip(today.week, today.diastolicWeek).map { high, low in high.flatMap { high in low.map { (high, $0) } } }
        if let now = today.pressure, days.last.flatMap({ $0 }) != nil { days[count - 1] = (now.systolic, now.diastolic) }
        let known = days.compactMap { $0 }
        guard let least = known.map(\.1).min(), let maximum = known.map(\.0).max() else { return "" }
        let (low, high) = (min(least, 60), max(maximum, 140))
        func x(_ index: Int) -> Double { (Double(index) + 0.5) / Double(count) * 100 }
        func y(_ value: Double) -> Double { Self.bottom - 4 - (value - low) / (high - low) * (Self.bottom - 4 - Self.top) }
        let stems: [HTML] = days.enumerated().compactMap { index, day in
            guard let day else { return nil }
            let place = Coordinate.hundredths(x(index))
            let dots: [HTML] = [day.0, day.1].map {
                "<circle class=\"bar\(index == count - 1 ? "" : " past")\" cx=\"\(place)%\" cy=\"\(Coordinate.tenths(y($0)))\" r=\"4\"/>"
            }
            return """
                <line class="stem" x1="\(place)%" x2="\(place)%" y1="\(Coordinate.tenths(y(day.0)))" y2="\(Coordinate.tenths(y(day.1)))"/>\(dots)
                """
        }
        let label = call.texts(
            "card.days", pressure(least), pressure(maximum))
        return frame(
            label,
            "\(line("grid", from: 0, to: 100, at: y(low)))\(line("grid", from: 0, to: 100, at: y(high)))\(stems)\(letters(count, at: x))"
        )
    }
}
