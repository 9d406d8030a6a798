import DebianControl
import Testing

/// Any text at all, made of lines that records are made of.
@Suite struct ControlParserPropertyTests {
    private static let lines = [
        "Package: a", "Package: b", "Package:", "package: c", " Package: d", "Packages: e", "Version: 1", "Section: x",
        "",
        " ", "\r", " more", "\tmore", "no field", "Version: 2\r", "\u{FEFF}Package: f", "Description: é",
    ]

    @Test(arguments: UInt64(1)...50)
    func everyLeadingLineIsOneRecord(seed: UInt64) {
        let text = text(seed)
        let leading = Array(text.utf8).split(separator: UInt8(ascii: "\n")).count { $0.starts(with: "Package:".utf8) }
        #expect(parse(text).count(where: \.hasLeadingField) == leading)
    }

    @Test(arguments: UInt64(1)...50)
    func recordsDoNotDependOnThePieces(seed: UInt64) {
        let bytes = Array(text(seed).utf8)
        let whole = parse(bytes).map(Content.init)
        for piece in [1, 2, 3, 7, 64] { #expect(parse(bytes, piece: piece).map(Content.init) == whole) }
    }

    private func text(_ seed: UInt64) -> String {
        var random = SeededGenerator(seed)
        return (0..<40).map { _ in Self.lines.randomElement(using: &random) ?? "" }.joined(separator: "\n")
    }

    private struct Content: Equatable {
        var line: Int
        var fault: ControlFault?
        var values: [String?]

        init(_ record: ControlRecord) {
            line = record.line
            fault = record.fault
            values = ["Package", "Section", "Description"].map { try? record.unfolded($0) }
        }
    }
}

/// The same numbers for the same seed: splitmix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
