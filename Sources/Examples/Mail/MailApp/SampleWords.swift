/// Random numbers from a seed, by the algorithm xorshift64*. The generators of the standard library are not used,
/// because their numbers can change with its version.
struct SampleRandom {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    private mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// A number from 0 up to but not including the bound.
    mutating func next(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number from 0 up to but not including 1.
    mutating func share() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    /// Picks an index at random. An index with twice the weight is picked twice as often.
    mutating func pick(weights: [Int]) -> Int {
        var rest = next(below: weights.reduce(0, +))
        for (index, weight) in weights.enumerated() {
            if rest < weight { return index }
            rest -= weight
        }
        return 0
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[next(below: elements.count)] }
}

/// Names, subjects and sentences for the sample messages.
enum SamplePeople {
    private static let givenNames = [
        "Ada", "Bao", "Chidi", "Dalia", "Emeka", "Freya", "Goran", "Hana", "Ines", "Jun", "Kofi", "Leila", "Mateo",
        "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Sanjay", "Tomoko",
    ]
    private static let familyNames = [
        "Adeyemi", "Brandt", "Castillo", "Dubois", "Eriksen", "Fontana", "Gupta", "Haddad", "Ito", "Jansen", "Kaya",
        "Lindqvist", "Moreau", "Novak", "Okafor", "Petrov",
    ]
    private static let domains = ["garden.example", "harbour.example", "club.example", "post.example"]

    /// Makes three contacts for each given name, each with a different family name.
    static func contacts(_ random: inout SampleRandom) -> [Contact] {
        givenNames.enumerated().flatMap { place, given in
            (0..<3).map { number in
                let family = familyNames[(place * 3 + number * 5) % familyNames.count]
                let phone = "+00 555 \(1000 + random.next(below: 9000))"
                let mailName = "\(given).\(family)".lowercased()
                return Contact(
                    address: "\(mailName)@\(random.pick(domains))", name: "\(given) \(family)",
                    phone: random.next(below: 3) == 0 ? nil : phone)
            }
        }
    }

    private static let adjectives = [
        "New", "Second", "Late", "Corrected", "Short", "Open", "Final", "Next", "Early", "Missing",
    ]
    private static let subjects = [
        "invoice for the boats", "plan for the harbour wall", "trip to the islands", "minutes of Tuesday",
        "keys of the boathouse", "draft of the contract", "photos from the regatta", "question about the lease",
        "dates for the course", "list of spare parts", "recipe for plum cake", "report on the pumps",
        "invoice for the paint", "plan of the garden", "train trip in spring",
    ]
    private static let sentences = [
        "Thanks, that is what I needed.", "Can you look at it before Friday?", "I have attached the newest version.",
        "The numbers on the second page are still open.", "Let us talk about it on the phone.",
        "I agree with all of it, except for the date.", "Please tell the others, too.",
        "It can wait until next week.", "The lighthouse keeper has the other copy.", "See you at the pier at nine.",
    ]

    static func subject(_ random: inout SampleRandom) -> String {
        "\(random.pick(adjectives)) \(random.pick(subjects))"
    }

    static func text(_ random: inout SampleRandom) -> String {
        (0...random.next(below: 4)).map { _ in random.pick(sentences) }.joined(separator: " ")
    }
}
