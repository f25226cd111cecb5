extension Catalogue {
    /// Food and drink. HealthKit measures all of it in grams, even micrograms of vitamins. The columns are explained at ``Catalogue``.
    static let nutrition = """
        id                        | unit | HealthKit unit | style | iOS | possible | plausible | display name
        dietaryBiotin             | g    | g              | sum   | 8.0 | 0...     | -         | Biotin
        dietaryCaffeine           | g    | g              | sum   | 8.0 | 0...     | 0...10    | Caffeine
        dietaryCalcium            | g    | g              | sum   | 8.0 | 0...     | -         | Calcium
        dietaryCarbohydrates      | g    | g              | sum   | 8.0 | 0...     | -         | Carbohydrates
        dietaryChloride           | g    | g              | sum   | 8.0 | 0...     | -         | Chloride
        dietaryCholesterol        | g    | g              | sum   | 8.0 | 0...     | -         | Dietary Cholesterol
        dietaryChromium           | g    | g              | sum   | 8.0 | 0...     | -         | Chromium
        dietaryCopper             | g    | g              | sum   | 8.0 | 0...     | -         | Copper
        dietaryEnergyConsumed     | kcal | kcal           | sum   | 8.0 | 0...     | -         | Dietary Energy
        dietaryFatMonounsaturated | g    | g              | sum   | 8.0 | 0...     | -         | Monounsaturated Fat
        dietaryFatPolyunsaturated | g    | g              | sum   | 8.0 | 0...     | -         | Polyunsaturated Fat
        dietaryFatSaturated       | g    | g              | sum   | 8.0 | 0...     | -         | Saturated Fat
        dietaryFatTotal           | g    | g              | sum   | 8.0 | 0...     | -         | Total Fat
        dietaryFiber              | g    | g              | sum   | 8.0 | 0...     | -         | Fiber
        dietaryFolate             | g    | g              | sum   | 8.0 | 0...     | -         | Folate
        dietaryIodine             | g    | g              | sum   | 8.0 | 0...     | -         | Iodine
        dietaryIron               | g    | g              | sum   | 8.0 | 0...     | -         | Iron
        dietaryMagnesium          | g    | g              | sum   | 8.0 | 0...     | -         | Magnesium
        dietaryManganese          | g    | g              | sum   | 8.0 | 0...     | -         | Manganese
        dietaryMolybdenum         | g    | g              | sum   | 8.0 | 0...     | -         | Molybdenum
        dietaryNiacin             | g    | g              | sum   | 8.0 | 0...     | -         | Niacin
        dietaryPantothenicAcid    | g    | g              | sum   | 8.0 | 0...     | -         | Pantothenic Acid
        dietaryPhosphorus         | g    | g              | sum   | 8.0 | 0...     | -         | Phosphorus
        dietaryPotassium          | g    | g              | sum   | 8.0 | 0...     | -         | Potassium
        dietaryProtein            | g    | g              | sum   | 8.0 | 0...     | -         | Protein
        dietaryRiboflavin         | g    | g              | sum   | 8.0 | 0...     | -         | Riboflavin
        dietarySelenium           | g    | g              | sum   | 8.0 | 0...     | -         | Selenium
        dietarySodium             | g    | g              | sum   | 8.0 | 0...     | -         | Sodium
        dietarySugar              | g    | g              | sum   | 8.0 | 0...     | -         | Dietary Sugar
        dietaryThiamin            | g    | g              | sum   | 8.0 | 0...     | -         | Thiamin
        dietaryVitaminA           | g    | g              | sum   | 8.0 | 0...     | -         | Vitamin A
        dietaryVitaminB12         | g    | g              | sum   | 8.0 | 0...     | -         | Vitamin B12
        dietaryVitaminB6          | g    | g              | sum   | 8.0 | 0...     | -         | Vitamin B6
        dietaryVitaminC           | g    | g              | sum   | 8.0 | 0...     | -         | Vitamin C
        dietaryVitaminD           | g    | g              | sum   | 8.0 | 0...     | -         | Vitamin D
        dietaryVitaminE           | g    | g              | sum   | 8.0 | 0...     | -         | Vitamin E
        dietaryVitaminK           | g    | g              | sum   | 8.0 | 0...     | -         | Vitamin K
        dietaryWater              | mL   | mL             | sum   | 9.0 | 0...     | 0...20000 | Water
        dietaryZinc               | g    | g              | sum   | 8.0 | 0...     | -         | Zinc
        """
}
