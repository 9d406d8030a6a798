import Foundation
import ModelSource
import TestSupport
import Testing

/// No text makes the parser crash, hang, or say a place that is not in the text. COREDATASOURCE_FUZZ sets the number of inputs.
struct FuzzTests {
    private static let count = ProcessInfo.processInfo.environment["COREDATASOURCE_FUZZ"].flatMap(Int.init) ?? 4_000

    private static let seeds = [
        "@StoredEntity(\"N\", unique: [[\"a\", \"b\"]]) final class A: ManagedObject {\n    @Stored(raw: Int16.self, in: 0...5) var kind: Kind = .a\n"
            + "    @Related(inverse: \"a\", onDelete: .cascade) var notes: RelatedObjects<B>\n    var x: String? = \"a\\(b { \"c\" })\" // d\n"
            + "#if DEBUG\n    lazy var y = { /* e */ #\"f\"# }()\n#endif\n    @Stored(.composite) var `class`: [String: [Int?]] { get { 1 } }\n}",
        "@StoredComposite public struct P { var a: Double = -1.5e3\n    @StoredPart(.codable) var b: [Int] = [1]\n    init() {} }",
        "let m = ManagedObjectModel(\"M\", configurations: [EntityConfiguration(name: \"c\", entityNames: [\"A\"])]) { A.self; B.self }\n/a/b/ #/x/# \"\"\"\n a\n \"\"\"",
    ].map { Array($0.utf8) }

    private static let pieces = [
        "\"", "\"\"\"", "#\"", "\\(", "(", ")", "[", "]", "{", "}", "<", ">", "/*", "*/", "//", "\n", "`", "@", "#if",
        "#endif", "var ", "class ",
        ": ", "= ", ".", "...", "-", "?", "\u{0}", "é", "\u{FEFF}", "/", "#", ",", ";", "@Stored", "didSet", "where",
        "0x", "1e", "\u{A0}",
    ].map { Array($0.utf8) }

    @Test func anyTextIsReadOrRefused() {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<Self.count {
            var bytes = Self.seeds[Int.random(in: 0..<Self.seeds.count, using: &random)]
            for _ in 0...Int.random(in: 0..<6, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    bytes.insert(
                        contentsOf: Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)], at: place)
                case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0..<8, using: &random)))
                default: bytes += bytes[place..<min(bytes.count, place + 20)]
                }
            }
            check(String(decoding: bytes, as: UTF8.self), seed: seed)
        }
    }

    private func check(_ text: String, seed: UInt64? = nil) {
        let limit = text.utf8.count
        for (macro, role) in [
            ("StoredEntity", MacroExpansion.Role.member), ("StoredEntity", .memberAttribute), ("Stored", .accessor),
            ("Related", .accessor),
            ("StoredComposite", .member), ("StoredComposite", .extension),
        ] {
            let expansion = MacroExpansion(macro: macro, role: role, attribute: "@\(macro)", declaration: text)
            if expansion.diagnostics.contains(where: { $0.offset < 0 || $0.offset > limit }) {
                Issue.record("A diagnostic is not in the text (seed \(seed ?? 0)): \(text.debugDescription)")
            }
        }
    }

    /// What nests deeply or repeats takes time in proportion to its length.
    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            "(", "[", "{", "/*", "\"\\(", "var a: [", "@A(", "<", "= /a", "class A {", "#if ", ".init(", "a<", "-",
            "var x = 1\n",
        ])
    func repeatedTextIsReadInLinearTime(_ piece: String) {
        let text = String(repeating: piece, count: 40_000 / piece.utf8.count)
        check("@StoredEntity class A: ManagedObject { \(text)")
        check("@StoredEntity class A: ManagedObject { var x: \(text) }")
        check(text)
    }
}
