import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// The tables of Contributing.md that lead a newcomer through the code name functions that call each other.
struct TripTests {
    /// How many files each trip may have.
    private static let maximumFileCounts = [25, 20, 25]

    @Test func everyRowIsCalledByARowAboveIt() throws {
        let article = PackageFiles.root.appending(path: "Sources/CoreDataSource/CoreDataSource.docc/Contributing.md")
        let trips = try Trip.all(in: String(contentsOf: article, encoding: .utf8))
        try #require(trips.count == Self.maximumFileCounts.count)
        var sources: [String: TripSource] = [:]
        for file in Set(trips.flatMap(\.files)) {
            let path = PackageFiles.root.appending(path: "Sources/\(file).swift")
            guard FileManager.default.fileExists(atPath: path.path) else { continue }
            sources[file] = TripSource(try String(contentsOf: path, encoding: .utf8))
        }
        for (trip, maximum) in zip(trips, Self.maximumFileCounts) {
            #expect(trip.files.count > 10 && trip.files.count <= maximum, "\(trip.title): \(trip.files.count) files")
            for problem in trip.problems(sources) { Issue.record("\(trip.title): \(problem)") }
        }
    }

    // MARK: The check itself

    private static let rows = [
        "| `A/One` | `start` | One calls two. | |",
        "| `A/Two` | `Two.init` | Two calls its closure. | |",
        "| `A/Three` | `run` | Three calls four. | `work` |",
        "| `A/Three` | `four` | Four passes five on. | |",
        "| `A/Two` | `five` | Five ends. | |",
    ]

    private static let sources = [
        "A/One": """
        protocol Start {
            func start()
            func hidden() -> Int
        }
        struct One: Start {
            // run() { work() }
            func start() { print("four() \\(five(")")) { run()") }
            func start(_ text: String = "}", _ body: () -> Void = { hidden() }) throws(Failure) -> [Int] {
                let two = Two<Int>(text) /* .run() */
                return two.all(.four(1))
            }
            func unused() { four() }
        }
        """,
        "A/Two": """
        extension Outer.Two {
            init?(_ text: String) where Element: Equatable {
                self.init()
                work(text)
            }
            static func five() {}
        }
        struct Other {
            init() { four() }
        }
        """,
        "A/Three": """
        final class Three {
            func run() {
                perform { _ in }
                four { \"""
                    five() }
                    \""" }
            }
            func four(_ body: () -> String) { [1].map(Two.five) }
        }
        """,
    ]

    /// What is wrong with a trip of these rows.
    private func problems(_ rows: [String], _ sources: [String: String] = TripTests.sources) throws -> [String] {
        let head = "| File | Function | What happens | Called as |\n|---|---|---|---|"
        let trips = try Trip.all(
            in: "# A\n\n### Three trips through the code\n\nText.\n\n#### B\n\n\(head)\n"
                + rows.joined(separator: "\n") + "\n\n### Rules\n\n| C |\n|---|\n| d |\n")
        try #require(trips.map(\.title) == ["B"])
        return trips[0].problems(sources.mapValues { TripSource($0) })
    }

    @Test func aTripWithoutGapsHasNoProblems() throws {
        #expect(try problems(Self.rows) == [])
        #expect(try problems(Array(Self.rows[1...])) == [], "the first row is called by something else")
    }

    @Test func aGapIsFound() throws {
        for (place, next) in [(1, "run of A/Three"), (2, "four of A/Three"), (3, "five of A/Two")] {
            var rows = Self.rows
            rows.remove(at: place)
            #expect(try problems(rows) == ["\(next) is not called"])
        }
        // A row that comes before its caller.
        #expect(try problems([Self.rows[0], Self.rows[2]]) == ["run of A/Three is not called"])
        // Comments, strings, cases and other functions call nothing.
        let one = "| `A/Three` | `four` | Four. | |"
        #expect(try problems([Self.rows[0], one]) == ["four of A/Three is not called"])
        #expect(try problems([Self.rows[3], Self.rows[4]]) == [])
    }

    @Test func aNewNameIsFound() throws {
        let walking = Self.sources.mapValues { $0.replacing("func run(", with: "func walk(") }
        #expect(try problems(Self.rows, walking) == ["A/Three has no run", "four of A/Three is not called"])
        let playing = Self.sources.mapValues { $0.replacing("work(text)", with: "play(text)") }
        #expect(try problems(Self.rows, playing) == ["run of A/Three is not called"])
        #expect(try problems(["| `A/One` | `Two.init` | One. | |"]) == ["A/One has no Two.init"])
        #expect(try problems(["| `A/Four` | `four` | Four. | |"]) == ["A/Four does not exist"])
        #expect(try problems(["| `A/One` | `hidden` | It has no body. | |"]) == [])
    }

    @Test func aRowThatCannotBeReadIsAnError() {
        expectThrows(Trip.Unreadable.self) { try problems(["| `A/One` | `start` | It lacks a column. |"]) }
        expectThrows(Trip.Unreadable.self) { try problems(["| A/One | `start` | The file is no code. | |"]) }
        expectThrows(Trip.Unreadable.self) { try problems(["| `A/One` | `start` | Neither is this. | work |"]) }
    }
}

/// A trip of the article: a title, and tables of functions in the order in which a call goes through them.
private struct Trip {
    struct Row {
        /// Below `Sources`, without `.swift`.
        let file: String
        /// `Type.init` for an initializer.
        let function: String
        /// The name that the caller uses.
        let calledName: String
    }

    struct Unreadable: Error {
        let line: String
    }

    let title: String
    private(set) var tables: [[Row]] = []

    private static let columns = ["File", "Function", "What happens", "Called as"]

    init(title: String) { self.title = title }

    var files: Set<String> { Set(tables.joined().map(\.file)) }

    static func all(in article: String) throws -> [Trip] {
        let sections = article.split(separator: "\n### ", omittingEmptySubsequences: false)
        let section = sections.first { $0.hasPrefix("Three trips through the code\n") } ?? ""
        var trips: [Trip] = []
        // Of the table to which the line before belongs; 0 outside of tables.
        var columnCount = 0
        for line in section.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("#### ") { trips.append(Trip(title: String(line.dropFirst(5)))) }
            guard line.hasPrefix("|"), !trips.isEmpty else {
                columnCount = 0
                continue
            }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if columnCount == 0 {
                columnCount = cells.count
                guard columnCount >= 3, cells == Array(columns.prefix(columnCount)) else {
                    throw Unreadable(line: String(line))
                }
                trips[trips.count - 1].tables.append([])
            } else if !cells.allSatisfy({ $0 == "---" }) {
                guard cells.count == columnCount, let row = Row(cells) else { throw Unreadable(line: String(line)) }
                trips[trips.count - 1].add(row)
            }
        }
        return trips
    }

    private mutating func add(_ row: Row) { tables[tables.count - 1].append(row) }

    /// The rows whose file or function is not there, and those that no row above calls.
    func problems(_ sources: [String: TripSource]) -> [String] {
        var problems: [String] = []
        for table in tables {
            var called: Set<String> = []
            for (place, row) in table.enumerated() {
                guard let source = sources[row.file] else {
                    problems.append("\(row.file) does not exist")
                    continue
                }
                let bodies = source.bodies(of: row.function)
                if bodies.isEmpty {
                    problems.append("\(row.file) has no \(row.function)")
                    continue
                }
                if place > 0, !called.contains(row.calledName) {
                    problems.append("\(row.function) of \(row.file) is not called")
                }
                for body in bodies { called.formUnion(TripSource.calls(in: body)) }
            }
        }
        return problems
    }
}

extension Trip.Row {
    /// Nil if a name is not in backticks.
    fileprivate init?(_ cells: [String]) {
        let names = cells.map { cell in cell.wholeMatch(of: /`([^`]+)`/).map { String($0.output.1) } }
        guard let file = names[0], let function = names[1] else { return nil }
        if names.count > 3, names[3] == nil, !cells[3].isEmpty { return nil }
        self.file = file
        self.function = function
        let ownName = function.hasSuffix(".init") ? String(function.dropLast(5)) : function
        calledName = names.count > 3 ? names[3] ?? ownName : ownName
    }
}

/// A Swift file without comments, and with empty strings.
private struct TripSource {
    private let code: Substring

    init(_ text: String) {
        let bytes = Array(text.utf8)
        var kept: [UInt8] = []
        var place = 0
        while place < bytes.count {
            let next = place + 1 < bytes.count ? bytes[place + 1] : 0
            switch (bytes[place], next) {
            case (UInt8(ascii: "/"), UInt8(ascii: "/")):
                place = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            case (UInt8(ascii: "/"), UInt8(ascii: "*")): place = Self.end(ofComment: place, bytes)
            case (UInt8(ascii: "\""), _):
                place = Self.end(ofString: place, bytes)
                kept += Array("\"\"".utf8)
            default:
                kept.append(bytes[place])
                place += 1
            }
        }
        code = Substring(String(decoding: kept, as: UTF8.self))
    }

    private static func end(ofComment start: Int, _ bytes: [UInt8]) -> Int {
        var place = start + 2
        while place < bytes.count, !bytes[place...].starts(with: "*/".utf8) { place += 1 }
        return min(place + 2, bytes.count)
    }

    private static func end(ofString start: Int, _ bytes: [UInt8]) -> Int {
        let isLong = bytes[start...].starts(with: "\"\"\"".utf8)
        let quotes = Array((isLong ? "\"\"\"" : "\"").utf8)
        var place = start + quotes.count
        while place < bytes.count, !bytes[place...].starts(with: quotes) {
            if bytes[place...].starts(with: "\\(".utf8) {
                place = end(ofInterpolation: place + 2, bytes)
            } else {
                place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
            }
        }
        return min(place + quotes.count, bytes.count)
    }

    private static func end(ofInterpolation start: Int, _ bytes: [UInt8]) -> Int {
        var (place, depth) = (start, 1)
        while place < bytes.count, depth > 0 {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                place = end(ofString: place, bytes)
                continue
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            default: break
            }
            place += 1
        }
        return place
    }

    /// The bodies of all functions with a name, or of all initializers of a type. That of a requirement is empty.
    func bodies(of function: String) -> [Substring] {
        if function.hasSuffix(".init") {
            return types(String(function.dropLast(5))).flatMap { type in
                type.matches(of: /[^.\w]init[?(<]/).map { Self.body(after: $0.range.lowerBound, in: type) }
            }
        }
        return code.matches(of: /func (\w+)/).filter { $0.output.1 == function }
            .map { Self.body(after: $0.range.upperBound, in: code) }
    }

    /// What is between the braces of a type and of its extensions, and the braces.
    private func types(_ name: String) -> [Substring] {
        code.matches(of: /(?:struct|class|enum|actor|extension) (?:\w+\.)*(\w+)/).compactMap { match in
            guard match.output.1 == name, let open = code[match.range.upperBound...].firstIndex(of: "{"),
                let end = Self.closing(open, in: code)
            else { return nil }
            return code[open...end]
        }
    }

    /// - Parameter start: Before the parameters of the function.
    private static func body(after start: Substring.Index, in code: Substring) -> Substring {
        guard let parameters = code[start...].firstIndex(of: "("), let end = closing(parameters, in: code),
            let open = code[end...].firstIndex(of: "{"), let close = closing(open, in: code)
        else { return "" }
        // Another declaration, whose body it is.
        let next = /}|\s(?:func|init|deinit|var|let|case|subscript|struct|class|enum|extension|protocol)[\s(<?]/
        if code[end..<open].contains(next) { return "" }
        return code[open..<close].dropFirst()
    }

    /// Where the bracket of any kind ends that begins at an index.
    private static func closing(_ open: Substring.Index, in code: Substring) -> Substring.Index? {
        var depth = 0
        for index in code[open...].indices {
            switch code[index] {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: break
            }
            if depth == 0 { return index }
        }
        return nil
    }

    /// The names of what is called in a body, and of members that are passed on as functions.
    static func calls(in body: Substring) -> Set<String> {
        // A member without its owner is mostly a case, and a nested function is no call.
        let code = body.replacing(/([\s(\[{])\.\w+/) { $0.output.1 }.replacing(/func \w+/, with: "")
        let names = code.matches(of: /(\w+)[?!]?(?:\(|<|\s\{)|\.(\w+)\)/).compactMap { match in
            match.output.1 ?? match.output.2
        }
        return Set(names.map { String($0) })
    }
}
