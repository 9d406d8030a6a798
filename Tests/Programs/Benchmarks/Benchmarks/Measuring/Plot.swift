internal import Foundation

/// The drawing that `--plot` writes: the ratio of each workload, and what an object costs by how many there are.
struct Plot {
    private let bars: [Report.Line]
    private let curves: [(id: String, points: [(n: Int, cost: Double)])]
    private let machine: String

    init(_ report: Report) {
        machine = report.machine
        // Of a workload that was run at several scales, the bar is that of the largest but one.
        var byID: [(id: String, lines: [Report.Line])] = []
        for line in report.workloads {
            if let place = byID.firstIndex(where: { $0.id == line.id }) {
                byID[place].lines.append(line)
            } else {
                byID.append((line.id, [line]))
            }
        }
        bars = byID.compactMap { $0.lines.count > 2 ? $0.lines.dropLast().last : $0.lines.last }
            .filter { line in
                line.ratio.isFinite && line.ratio > 0 && !Plot.otherComparisons.contains { line.id.hasPrefix($0) }
            }
        curves = byID.filter { $0.lines.count > 1 }.map { id, lines in
            (id, lines.map { ($0.n, $0.ours * 1000 / Double($0.n)) })
        }
    }

    func write(to path: String) throws {
        try svg.write(toFile: path, atomically: true, encoding: .utf8)
    }

    // MARK: Drawing

    /// Workloads that are not compared with plain C on SQLite.
    private static let otherComparisons = ["W22", "W23", "W24", "W25"]
    private static let width = 760.0
    private static let rowHeight = 22.0
    private static let colours = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b"]

    private var svg: String {
        let barsHeight = Double(bars.count) * Plot.rowHeight + 60
        let height = barsHeight + (curves.isEmpty ? 0 : 360) + 30
        var body = drawBars(top: 40)
        if !curves.isEmpty { body += drawCurves(top: barsHeight + 40) }
        body += text(10, height - 10, machine, size: 11, colour: "#666")
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Plot.width)) \(Int(height))" font-family="sans-serif">
            <rect width="100%" height="100%" fill="white"/>
            \(body)</svg>

            """
    }

    private func drawBars(top: Double) -> String {
        let left = 130.0
        let most = max(2, bars.map(\.ratio).max() ?? 2)
        let unit = (Plot.width - left - 70) / most
        var body = text(10, 24, "Time, as a multiple of plain C on SQLite (shorter is faster)", size: 14)
        for (index, bar) in bars.enumerated() {
            let y = top + Double(index) * Plot.rowHeight
            let colour = bar.ratio <= 1 ? "#2ca02c" : "#1f77b4"
            body += text(left - 8, y + 14, bar.id, anchor: "end")
            body += rectangle(left, y + 3, max(1, bar.ratio * unit), Plot.rowHeight - 6, colour)
            body += text(left + bar.ratio * unit + 6, y + 14, String(format: "%.2f", bar.ratio))
        }
        let end = top + Double(bars.count) * Plot.rowHeight
        return body + line(left + unit, top, left + unit, end, "#999")
            + text(left + unit, end + 14, "plain C", anchor: "middle")
    }

    private func drawCurves(top: Double) -> String {
        let points = curves.flatMap(\.points)
        let (low, high) = (log10(Double(points.map(\.n).min() ?? 1)), log10(Double(points.map(\.n).max() ?? 1)))
        let (least, most) = (log10(points.map(\.cost).min() ?? 1), log10(points.map(\.cost).max() ?? 1))
        let (left, right, bottom) = (70.0, Plot.width - 150, top + 300)
        func x(_ n: Int) -> Double { left + (log10(Double(n)) - low) / max(0.01, high - low) * (right - left) }
        func y(_ cost: Double) -> Double { bottom - (log10(cost) - least) / max(0.3, most - least) * 260 }
        var body = text(10, top, "Microseconds an object, by how many objects there are", size: 14)
        body += line(left, bottom, right, bottom, "#999") + line(left, top + 20, left, bottom, "#999")
        for n in Set(points.map(\.n)).sorted() { body += text(x(n), bottom + 16, "\(n)", anchor: "middle") }
        for power in Int(least.rounded(.down))...Int(most.rounded(.up)) {
            for step in [1.0, 3]
            where log10(step * pow(10, Double(power))) >= least && log10(step * pow(10, Double(power))) <= most {
                let cost = step * pow(10, Double(power))
                body +=
                    line(left, y(cost), right, y(cost), "#eee")
                    + text(left - 6, y(cost) + 4, String(format: "%g", cost), anchor: "end")
            }
        }
        for (index, curve) in curves.enumerated() {
            let colour = Plot.colours[index % Plot.colours.count]
            let path = curve.points.map { String(format: "%.1f,%.1f", x($0.n), y($0.cost)) }.joined(separator: " ")
            body += "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>\n"
            body += rectangle(right + 16, top + 24 + Double(index) * 20, 12, 12, colour)
            body += text(right + 34, top + 34 + Double(index) * 20, curve.id)
        }
        return body
    }

    private func text(
        _ x: Double, _ y: Double, _ text: String, size: Int = 12, anchor: String = "start", colour: String = "#222"
    ) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(size)\" text-anchor=\"\(anchor)\" fill=\"\(colour)\">"
            + "\(text)</text>\n"
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
        "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" stroke=\"\(colour)\"/>\n"
    }

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String) -> String {
        "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\" "
            + "fill=\"\(colour)\"/>\n"
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
