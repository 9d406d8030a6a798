import ModelSource
import Testing

struct DeclarationTests {
    private func names(_ text: String) -> [String] {
        let source = SwiftSource(text)
        var parser = DeclarationParser(source)
        return parser.declarations().filter { $0.kind != .other }.map { "\($0.kind.rawValue) \($0.name)" }
    }

    @Test(arguments: [
        ("var a: Int = 1, b = 2\nlet c = 3", ["var a", "let c"]),
        ("var a = 1; var b: Int", ["var a", "var b"]),
        ("var a: [Int: (Int) -> Void] = [:] { didSet { var x = 1 } }\nvar b = 1", ["var a", "var b"]),
        ("var a = foo {\n  var x = 1\n}\n.bar { $0 }\nvar b = 1", ["var a", "var b"]),
        ("var a = b\n  + c\n  ?? d\nvar e: Int", ["var a", "var e"]),
        ("var a = if x { 1 }\nelse { 2 }\nvar b: Int", ["var a", "var b"]),
        ("@A(x: \"}\") @B.C<D>(1) public private(set) var a: Int", ["var a"]),
        (
            "class var a: Int { 1 }\nclass B<T: C>: D<E>, F where T: G { var x: Int }\nstatic func f() {}",
            ["var a", "class B", "func f"]
        ),
        ("#if DEBUG\nvar a: Int\n#else\nvar b: Int\n#endif\nvar c: Int", ["var a", "var b", "var c"]),
        ("func f<T>(_ x: T = { 1 }()) -> some P where T == Q { var x = 1 }\nvar a: Int", ["func f", "var a"]),
        ("init?(x: Int) throws(E) { }\ndeinit { }\nsubscript(i: Int) -> Int { i }\nvar a: Int", ["init ", "var a"]),
        ("var `class`: Int?\nvar größe: Int", ["var class", "var größe"]),
        (
            "class `func`: A {}\nclass `var` {}\nclass open: A {}\nclass prefix {}",
            ["func", "var", "open", "prefix"].map { "class \($0)" }
        ),
        (
            "class override func a() {}\nclass final let b = 1\nfinal class unsafe<T> {}",
            ["func a", "let b", "class unsafe"]
        ),
        ("let x = try await foo(bar: 1)\nprint(x)\nfor i in 0..<3 { var z = i }\nstruct S {}", ["let x", "struct S"]),
        (
            "import Foundation\ntypealias A = B<C>\nextension A.B: C {}\nenum E: Int16, F { case a = 1, b }",
            ["extension A.B", "enum E"]
        ),
        ("var a: Int { get { 1 } }\nvar (x, y) = (1, 2)\nvar b: Int", ["var a", "var ", "var b"]),
        ("@available(macOS 15, *)\nfinal class A: B {\n}", ["class A"]),
        ("@A (x: 1) class B {}\n@C /* c */ (d) var e: Int\n@F var (g, h) = (1, 2)", ["class B", "var e", "var "]),
        ("var a: Optional\n  <Int>\nvar b: Int", ["var a", "var b"]),
        ("var a: Optional<\n  Int\n>\n= 5\nvar b = { (x: Int) -> Int in x }", ["var a", "var b"]),
        (
            "var a = b ??\n  c\nvar d = 1...\nvar e = [] as Array<Int>\nvar f = g!\nvar h: Int",
            ["a", "d", "e", "f", "h"]
                .map { "var \($0)" }
        ),
        ("var a = make {\n}\nsecond: {\n}\nvar b: (Int) ->\n  Void\nvar c: any\n  P", ["var a", "var b", "var c"]),
        (
            "func f()\n  async throws -> Int { 1 };\n;var (a, b) = f { }.x\n#m(1) { }\nvar c: Int",
            ["func f", "var ", "var c"]
        ),
        ("var a =\nvar b: Int\nvar c =\n  open(1)\nvar d =\n  #line", ["var a", "var b", "var c", "var d"]),
        ("var a: Int { let didSet = 1; return didSet }\n@A @B(c) private actor D {}", ["var a", "actor D"]),
        ("#if os(Linux) ||\n  os(macOS)\nvar a = b\n#if D\n  .c()\n#endif\n#endif\nvar d: Int", ["var a", "var d"]),
    ])
    func declarationsEndWhereTheNextBegins(_ text: String, _ expected: [String]) {
        #expect(names(text) == expected)
    }

    /// ‸ marks the tokens that begin no declaration. Valid members have none.
    @Test(arguments: [
        "typealias F =\n  @Sendable (Int) -> Void\nvar x: F", "‸vra x: Int\nvar y: Int", "var x: Int;\n; var y: Int",
        "var x: Int\n‸- y",
        "@A #m(1) { }\n#warning(\"a\")\nfunc f() {} ‸foo", "‸public", "‸@A", "@A ‸vra x: Int; var y: Int",
        "nonisolated(unsafe) static let x = a ??\n  b\nisolated deinit {}\nstatic func <<<(a: A, b: A) {}",
        "#if A\nvar x = a\n  #if B\n  .b()\n  #endif\n#endif\nindirect case a\n_const let b = 1",
        "subscript(a: Int) -> Int\nwhere A: B { get { 1 } set { } }\nconvenience init?()\n  throws(E) {}",
    ])
    func tokensThatBeginNoDeclarationAreFound(_ text: String) {
        let parts = text.split(separator: "‸", omittingEmptySubsequences: false)
        let source = SwiftSource(parts.joined())
        var parser = DeclarationParser(source)
        _ = parser.declarations()
        var places: [Int] = []
        for part in parts.dropLast() { places.append((places.last ?? 0) + part.utf8.count) }
        #expect(parser.strayTokens.map { source.tokens[$0].start } == places)
    }

    @Test func aDeclarationInAConditionIsMarked() {
        let source = SwiftSource("var a: Int\n#if os(Linux)\nvar b: Int\n#endif\nvar c: Int")
        var parser = DeclarationParser(source)
        #expect(parser.declarations().map(\.isConditional) == [false, true, false])
    }

    @Test(arguments: [
        ("Int", "Int", false), ("Int ?", "Int", true), ("Optional<Swift.Int>", "Int", true),
        ("Foundation.Date?", "Date", true),
        ("[String : [Int]]", "[String: [Int]]", false), ("Array<Int>", "[Int]", false),
        ("A.B<C, D?>", "A.B<C, D?>", false),
        ("CoreDataSource.RelatedObjects<Note>", "RelatedObjects<Note>", false), ("`class`?", "`class`", true),
    ])
    func typesHaveOneSpelling(_ text: String, _ name: String, _ isOptional: Bool) throws {
        let source = SwiftSource(text)
        let type = try #require(SourceType(source, in: 0..<source.tokens.count - 1))
        #expect(type.name == name && type.isOptional == isOptional)
    }

    @Test(arguments: [
        "(Int, Int)", "() -> Void", "any P", "some P", "Int??", "Optional<Int?>", "A & B", "[Int",
        String(repeating: "[", count: 100),
    ])
    func otherTypesAreNone(_ text: String) {
        let source = SwiftSource(text)
        #expect(SourceType(source, in: 0..<source.tokens.count - 1) == nil)
    }

    @Test(arguments: [
        ("-1_000", SourceExpression.number("-1000")), ("\"a\"", .string("a")),
        ("[1, 2,]", .list([.number("1"), .number("2")])),
        ("[:]", .dictionary([])), ("0...5", .range(lower: .number("0"), upper: .number("5"), isHalfOpen: false)),
        ("...5", .range(lower: nil, upper: .number("5"), isHalfOpen: false)),
        ("0.5...", .range(lower: .number("0.5"), upper: nil, isHalfOpen: false)), ("Int16.self", .type("Int16")),
        (".cascade", .member(type: nil, name: "cascade")), ("Kind.a", .member(type: "Kind", name: "a")),
        ("[\"a\": \"b\"]", .dictionary([.init(key: .string("a"), value: .string("b"))])),
        ("-5...(-2)", .range(lower: .number("-5"), upper: .number("-2"), isHalfOpen: false)),
        (".init(x: 1)", .call("", [SourceArgument(label: "x", value: .number("1"), offset: 9)])),
        (
            "A.B(1, c: nil)",
            .call(
                "A.B",
                [
                    SourceArgument(label: "", value: .number("1"), offset: 4),
                    .init(label: "c", value: .none, offset: 10),
                ])
        ),
    ])
    func literalsAreRead(_ text: String, _ expected: SourceExpression) {
        let source = SwiftSource(text)
        #expect(ExpressionParser.expression(source, in: 0..<source.tokens.count - 1) == expected)
    }

    @Test(arguments: [
        "a", "1 + 2", "f { }", "\"\\(a)\"", "[1, a]", "",
        String(repeating: "[", count: 50) + String(repeating: "]", count: 50),
    ])
    func onlyLiteralsAreReadAsExpressions(_ text: String) {
        let source = SwiftSource(text)
        #expect(ExpressionParser.expression(source, in: 0..<source.tokens.count - 1) == nil)
    }
}
