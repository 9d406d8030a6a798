import CoreDataSource

/// What a graph is to be, as dictionaries: the model that the random operations are compared with.
struct GraphReference: Equatable {
    var topics: Set<String> = []
    var persons: Set<String> = []
    var letters: Set<String> = []
    var labels: Set<String> = []
    var folders: Set<String> = []
    var attachments: Set<String> = []
    var passports: Set<String> = []
    var cats: Set<String> = []

    var topic: [String: String] = [:]
    var author: [String: String] = [:]
    var reader: [String: String] = [:]
    var holder: [String: String] = [:]
    var keeper: [String: String] = [:]
    var parent: [String: String] = [:]
    var spouse: [String: String] = [:]
    var friends: [String: Set<String>] = [:]
    var filed: [String: Set<String>] = [:]
    /// The letters of each label, in their order.
    var labelled: [String: [String]] = [:]
    /// The attachments of each letter, in their order.
    var attached: [String: [String]] = [:]

    enum Refusal: Equatable {
        case denied
        case invalid
    }

    // MARK: Links

    mutating func marry(_ one: String, _ other: String?) {
        for person in [one, other].compactMap({ $0 }) {
            if let before = spouse.removeValue(forKey: person) { spouse[before] = nil }
        }
        guard let other else { return }
        spouse[one] = other
        spouse[other] = one
    }

    mutating func befriend(_ one: String, _ other: String, _ isFriend: Bool) {
        for (person, friend) in [(one, other), (other, one)] {
            if isFriend { friends[person, default: []].insert(friend) } else { friends[person]?.remove(friend) }
        }
    }

    mutating func hold(_ passport: String, by person: String?) {
        holder[passport] = nil
        guard let person else { return }
        for (other, owner) in holder where owner == person { holder[other] = nil }
        holder[passport] = person
    }

    mutating func attach(_ attachment: String, to letter: String?) {
        if let letter, attached[letter]?.contains(attachment) == true { return }
        for owner in attached.keys { attached[owner]?.removeAll { $0 == attachment } }
        if let letter { attached[letter, default: []].append(attachment) }
    }

    mutating func setAttachments(_ list: [String], of letter: String) {
        for owner in attached.keys { attached[owner]?.removeAll { list.contains($0) } }
        attached[letter] = list
    }

    mutating func label(_ letter: String, _ label: String, _ isLabelled: Bool) {
        let holds = labelled[label]?.contains(letter) == true
        if isLabelled, !holds { labelled[label, default: []].append(letter) }
        if !isLabelled { labelled[label]?.removeAll { $0 == letter } }
    }

    // MARK: Deleting

    /// Applies the delete rules to what a batch has deleted.
    mutating func delete(_ objects: [(kind: String, key: String)]) -> Refusal? {
        var waiting = objects
        var gone: Set<String> = []
        var denials: [String] = []
        while let (kind, key) = waiting.popLast() {
            guard gone.insert(kind + key).inserted else { continue }
            switch kind {
            case "topic":
                topics.remove(key)
                waiting += topic.filter { $0.value == key }.map { ("letter", $0.key) }
            case "letter":
                letters.remove(key)
                waiting += (attached.removeValue(forKey: key) ?? []).map { ("attachment", $0) }
            case "folder":
                folders.remove(key)
                waiting += parent.filter { $0.value == key }.map { ("folder", $0.key) }
            case "person":
                persons.remove(key)
                denials.append(key)
                waiting += holder.filter { $0.value == key }.map { ("passport", $0.key) }
            case "label": labels.remove(key)
            case "attachment": attachments.remove(key)
            case "cat": cats.remove(key)
            default: passports.remove(key)
            }
        }
        if denials.contains(where: { person in author.contains { $1 == person && letters.contains($0) } }) {
            return .denied
        }
        forgetLinksOfWhatIsGone()
        return refusal
    }

    private mutating func forgetLinksOfWhatIsGone() {
        func kept(_ links: [String: String], _ sources: Set<String>, _ ends: Set<String>) -> [String: String] {
            links.filter { sources.contains($0.key) && ends.contains($0.value) }
        }
        topic = kept(topic, letters, topics)
        author = kept(author, letters, persons)
        reader = kept(reader, letters, persons)
        holder = kept(holder, passports, persons)
        // No Action leaves a link that leads nowhere.
        keeper = kept(keeper, cats, persons)
        parent = kept(parent, folders, folders)
        spouse = kept(spouse, persons, persons)
        friends = friends.filter { persons.contains($0.key) }.mapValues { $0.intersection(persons) }
        filed = filed.filter { folders.contains($0.key) }.mapValues { $0.intersection(letters) }
        labelled = labelled.filter { labels.contains($0.key) }.mapValues { $0.filter(letters.contains) }
        attached = attached.filter { letters.contains($0.key) }.mapValues { $0.filter(attachments.contains) }
    }

    /// Why a save of this must be refused.
    private var refusal: Refusal? {
        let crowded = Dictionary(grouping: keeper.values) { $0 }.contains { $1.count > 3 }
        return crowded || passports.contains { holder[$0] == nil } ? .invalid : nil
    }

    /// What differs, each part with what it is and what it is to be.
    func differences(from expected: GraphReference) -> [String] {
        zip(Mirror(reflecting: self).children, Mirror(reflecting: expected).children).compactMap { own, other in
            let (found, wanted) = (GraphReference.text(own.value), GraphReference.text(other.value))
            return found == wanted ? nil : "\(own.label ?? ""): \(found) and not \(wanted)"
        }
    }

    private static func text(_ value: Any) -> String {
        if let keys = value as? Set<String> { return "\(keys.sorted())" }
        var lines: [String] = []
        if let links = value as? [String: String] { lines = links.map { "\($0) \($1)" } }
        if let links = value as? [String: [String]] { lines = links.map { "\($0) \($1)" } }
        if let links = value as? [String: Set<String>] { lines = links.map { "\($0) \($1.sorted())" } }
        return "\(lines.sorted())"
    }

    /// Without what is empty, so that two of them can be compared.
    var compacted: GraphReference {
        var copy = self
        copy.friends = friends.filter { !$0.value.isEmpty }
        copy.filed = filed.filter { !$0.value.isEmpty }
        copy.labelled = labelled.filter { !$0.value.isEmpty }
        copy.attached = attached.filter { !$0.value.isEmpty }
        return copy
    }
}

extension GraphReference {
    /// The graph as a context shows it, each link from the side that stores it; throws what the other side says otherwise.
    init(_ context: ManagedObjectContext) throws {
        for topic in try context.fetch(Topic.self) { topics.insert(topic.key) }
        for person in try context.fetch(Person.self) {
            persons.insert(person.key)
            spouse[person.key] = person.spouse?.key
            friends[person.key] = Set(person.friends.map(\.key))
        }
        for letter in try context.fetch(Letter.self) {
            letters.insert(letter.key)
            topic[letter.key] = letter.topic?.key
            author[letter.key] = letter.author?.key
            reader[letter.key] = letter.readBy?.key
            attached[letter.key] = letter.attachments.map(\.key)
        }
        for label in try context.fetch(Label.self) {
            labels.insert(label.key)
            labelled[label.key] = label.letters.map(\.key)
        }
        for folder in try context.fetch(Folder.self) {
            folders.insert(folder.key)
            parent[folder.key] = folder.parent?.key
            filed[folder.key] = Set(folder.letters.map(\.key))
        }
        for attachment in try context.fetch(Attachment.self) { attachments.insert(attachment.key) }
        for passport in try context.fetch(Passport.self) {
            passports.insert(passport.key)
            holder[passport.key] = passport.holder?.key
        }
        for cat in try context.fetch(Cat.self) {
            cats.insert(cat.key)
            keeper[cat.key] = cat.keeper?.key
        }
    }

    /// The same links, seen from the other side.
    static func inverses(_ context: ManagedObjectContext) throws -> [[String: Set<String>]] {
        let persons = try context.fetch(Person.self)
        let letters = try context.fetch(Letter.self)
        func sets<Object: ManagedObject>(
            _ objects: [Object], _ key: (Object) -> String, _ keys: (Object) -> [String]
        ) -> [String: Set<String>] {
            Dictionary(uniqueKeysWithValues: objects.map { (key($0), Set(keys($0))) }).filter { !$0.value.isEmpty }
        }
        return [
            sets(try context.fetch(Topic.self), \.key) { $0.letters.map(\.key) },
            sets(persons, \.key) { $0.letters.map(\.key) },
            sets(persons, \.key) { $0.passport.map { [$0.key] } ?? [] },
            sets(persons, \.key) { $0.animals.map(\.key) },
            sets(letters, \.key) { $0.labels.map(\.key) },
            sets(try context.fetch(Folder.self), \.key) { $0.children.map(\.key) },
            sets(try context.fetch(Attachment.self), \.key) { $0.letter.map { [$0.key] } ?? [] },
        ]
    }

    var inverses: [[String: Set<String>]] {
        func reversed(_ links: [String: String]) -> [String: Set<String>] {
            links.reduce(into: [:]) { $0[$1.value, default: []].insert($1.key) }
        }
        func reversed(_ links: [String: [String]]) -> [String: Set<String>] {
            links.reduce(into: [:]) { sets, link in for end in link.value { sets[end, default: []].insert(link.key) } }
        }
        return [
            reversed(topic), reversed(author), reversed(holder), reversed(keeper), reversed(labelled), reversed(parent),
            reversed(attached),
        ]
    }
}
